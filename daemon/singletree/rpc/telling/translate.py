"""A session's events -> what its clients hear, in order: events as JSON, and deltas.

One translator belongs to one session: it knows which parts of the running answer are open and which
calls have no answer yet, so that a client that comes late can be told. Never awaits, numbers
nothing, knows no client. Read next: parts.py, wire.py.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import assert_never

from singletree.messages import AssistantMessage, Block, Text, Thinking, ToolCall
from singletree.model.base import TextDelta, ThinkingDelta, ToolCallDelta
from singletree.rpc.addresses import Address, Kind
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.state import DeltaKind, PartKind
from singletree.rpc.telling import toolcalls, wire
from singletree.rpc.telling.bounds import VALUE_BYTES, bounded
from singletree.rpc.telling.parts import Delta, Key, Parts
from singletree.session.events import (
    BashOutput,
    CompactionDelta,
    CompactionEnded,
    EntryAppended,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    RunEnded,
    RunStarted,
    SessionEvent,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolPending,
    ToolStarted,
    ToolUpdated,
    TurnEnded,
)

Wire = JsonObject | Delta
"""An event's body, or a piece of text."""

_DELTAS: dict[PartKind, DeltaKind] = {"text": "text", "thinking": "thinking", "tool": "toolArgs"}
_ITEMS: dict[DeltaKind, PartKind] = {delta: item for item, delta in _DELTAS.items()}
_WHOLE: dict[str, Kind] = {"input": "toolInput", "diff": "toolDiff"}
"""Where a field of a `tool` event can be read whole; all others as the output."""

Calling = ToolPending | ToolStarted | ToolUpdated | ToolEnded


class Translator:
    """The wire's view of one session. `cwd` makes the paths in tool calls into addresses."""

    def __init__(self, session_id: str, cwd: str = "/") -> None:
        self._session_id = session_id
        self._cwd = PurePosixPath(cwd)
        self._parts = Parts()
        self._calls: dict[str, JsonObject] = {}
        self._told: dict[str, ToolCall] = {}

    def feed(self, event: SessionEvent) -> list[Wire]:
        """What clients hear of it: any number of events and deltas, in this order."""
        match event:
            case MessageDelta():
                return self._more(event)
            case MessageEnded(id, AssistantMessage() as message):
                return self._ended(id, message)
            case ToolPending() | ToolStarted() | ToolUpdated() | ToolEnded():
                return self._call(event)
            case CompactionDelta(id, text):
                return [self._stream(Key(id, "summary"), text)]
            case BashOutput(id, text):
                return [self._stream(Key(id, "bashOutput"), text)]
            case MessageStarted() | MessageEnded() | RunStarted() | RunEnded():
                return []
            case StepStarted() | StepEnded():
                return []
            case _:
                before = self._close(event)
                return [*before, wire.tell(event, self._session_id)]

    def in_flight(self) -> list[JsonObject]:
        """What streams at this moment, for a client that comes late."""
        return self._parts.in_flight()

    def tools(self) -> list[JsonObject]:
        """The calls that have no answer yet, each with all that was told of it."""
        return [dict(call) for call in self._calls.values()]

    def _more(self, event: MessageDelta) -> list[Wire]:
        match event.event:
            case TextDelta(part, text):
                return self._piece(Key(event.id, "text", part), text)
            case ThinkingDelta(part, text):
                return self._piece(Key(event.id, "thinking", part), text)
            case ToolCallDelta(part, call_id, name, text):
                return self._piece(Key(event.id, "toolArgs", part), text, name, call_id)
        assert_never(event.event)

    def _piece(self, key: Key, text: str, name: str = "", call_id: str = "") -> list[Wire]:
        made = [] if key in self._parts else self._start(key, name, call_id)
        return [*made, self._parts.add(key, text)] if text else made

    def _stream(self, key: Key, text: str, call_id: str | None = None) -> Delta:
        self._parts.start(key, call_id=call_id)
        return self._parts.add(key, text)

    def _start(self, key: Key, name: str, call_id: str) -> list[Wire]:
        self._parts.start(key, name or None, call_id or None)
        made: JsonObject = {
            "type": "item_started",
            "itemId": key.item_id,
            "kind": _ITEMS[key.kind],
            "part": key.part,
        }
        if key.kind != "toolArgs":
            return [made]
        kind = toolcalls.TOOL_KINDS.get(name, "other")
        news: JsonObject = {"itemId": key.item_id, "part": key.part, "name": name, "kind": kind}
        told = self._tell_call(call_id, {"status": "streaming", **news, "title": name})
        return [{**made, "toolCallId": call_id, "name": name}, told]

    def _ended(self, item_id: str, message: AssistantMessage) -> list[Wire]:
        made: list[Wire] = []
        for index, block in enumerate(message.content):
            kind = _kind(block)
            if kind is None:
                continue
            key = Key(item_id, kind, index)
            if key not in self._parts:
                name, call = (block.name, block.id) if isinstance(block, ToolCall) else ("", "")
                made += self._start(key, name, call)
            made += self._end(key, block.dump())
        for key in self._parts.keys_of(item_id):
            made += self._end(key, None)
        return made

    def _end(self, key: Key, content: JsonObject | None) -> list[Wire]:
        """Close a part of an answer; with no content, the call it was to be will not come."""
        call_id = self._parts.end(key)
        shown, cut = bounded(content, Address(self._session_id, "entry", key.item_id))
        made: JsonObject = {
            "type": "item_ended",
            "itemId": key.item_id,
            "kind": _ITEMS[key.kind],
            "part": key.part,
            "content": shown,
        }
        if cut:
            made["cut"] = cut
        return [made] if content or call_id is None else [made, *self._forget(call_id)]

    def _call(self, event: Calling) -> list[Wire]:
        match event:
            case ToolPending(call, request_id):
                asked: JsonObject = {"requestId": request_id} if request_id else {}
                return [
                    self._tell_call(call.id, {"status": "pending", **self._news(call), **asked})
                ]
            case ToolStarted(call):
                news = {"status": "running", **self._answered(call.id), **self._news(call)}
                return [self._tell_call(call.id, news)]
            case ToolUpdated(call_id, text):
                return [self._stream(Key(call_id, "toolOutput"), text, call_id)]
            case ToolEnded(call, output, status, duration):
                news = {"status": status, **self._answered(call.id), **self._news(call)}
                news |= {**toolcalls.tool_result(output), "durationMs": duration}
                told = self._tell_call(call.id, news)
                self._parts.end(Key(call.id, "toolOutput"))
                del self._calls[call.id], self._told[call.id]
                return [told]
        assert_never(event)

    def _answered(self, call_id: str) -> JsonObject:
        """A question that was asked for the call has its answer now."""
        return {"requestId": None} if self._calls.get(call_id, {}).get("requestId") else {}

    def _news(self, call: ToolCall) -> JsonObject:
        """What was not told of the call yet, or is another now: its name, its title, its input."""
        before, self._told[call.id] = self._told.get(call.id), call
        if before is call:
            return {}
        if before is None:
            return toolcalls.tool_call(call, self._cwd)
        old, new = (toolcalls.tool_call(one, self._cwd) for one in (before, call))
        return {name: new.get(name) for name in old | new if old.get(name) != new.get(name)}

    def _tell_call(self, call_id: str, news: JsonObject) -> JsonObject:
        made: JsonObject = {"type": "tool", "toolCallId": call_id}
        for name, value in news.items():
            address = Address(self._session_id, _WHOLE.get(name, "tool"), call_id)
            made[name], cut = bounded(value, address, VALUE_BYTES // 4)
            if cut:
                made.setdefault("cut", cut)
        self._calls[call_id] = {**self._calls.get(call_id, {}), **made}
        return made

    def _forget(self, call_id: str) -> list[Wire]:
        """A call that will have no answer."""
        if call_id not in self._calls:
            return []
        told = self._tell_call(call_id, {"status": "cancelled"})
        self._parts.end(Key(call_id, "toolOutput"))
        del self._calls[call_id]
        self._told.pop(call_id, None)
        return [told]

    def _close(self, event: SessionEvent) -> list[Wire]:
        """A turn leaves nothing open behind it, nor does a compaction or a command by hand."""
        made: list[Wire] = []
        if isinstance(event, CompactionEnded):
            self._parts.end(Key(event.id, "summary"))
        if isinstance(event, EntryAppended):
            self._parts.end(Key(event.entry.id, "bashOutput"))
        if isinstance(event, TurnEnded):
            for key in self._parts.keys_of():
                if key.kind in _ITEMS:
                    made += self._end(key, None)
            for call_id in list(self._calls):
                made += self._forget(call_id)
        return made


def _kind(block: Block) -> DeltaKind | None:
    match block:
        case Text():
            return "text"
        case Thinking():
            return "thinking"
        case ToolCall():
            return "toolArgs"
        case _:
            return None
