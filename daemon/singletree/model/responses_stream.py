"""The responses API: the answer's events become deltas and one message.

An item of the answer is a part of the message; what its end says of it wins over its deltas. Pure.
Read next: draft.py (where parts grow), failure.py (an error event).
"""

from __future__ import annotations

import json

from pydantic import JsonValue

from singletree.jsontext import Json, decoded, object_in, objects_in, text_in
from singletree.messages import AssistantMessage
from singletree.model.anthropic_stream import CUT
from singletree.model.base import Delta
from singletree.model.draft import CallPart, Draft, TextPart, ThinkingPart, new_call_id
from singletree.model.failure import broken, in_stream
from singletree.model.openai_stream import FILTERED, loaded
from singletree.model.sse import ServerEvent
from singletree.model.usage import count, priced

PARAGRAPH = "\n\n"
"""Between two parts of a reasoning summary."""

UNFINISHED = "The provider ended the answer before its end: {why}."

_LIMITS = ("max_output_tokens", "max_tokens")
_LAST = ("response.completed", "response.incomplete", "response.done")
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THOUGHT = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


class ResponsesDecoder:
    """One answer of a responses server."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._places: dict[str, int] = {}
        self._last_place = -1
        self._summaries: dict[int, JsonValue] = {}
        self._status: str | None = None

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing more comes."""
        return self._status is not None

    def feed(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event. ModelError if it says that something failed."""
        if self._status is not None or not event.data.startswith("{"):
            return []
        data = loaded(event.data, self.draft.info.provider)
        kind = data.get("type") or event.name
        if kind in _TEXT:
            return self.draft.text(self._at(data, TextPart), text_in(data.get("delta")))
        if kind in _THOUGHT:
            return self._thought(data)
        if kind == "response.function_call_arguments.delta":
            return self.draft.call(self._at(data, CallPart), text_in(data.get("delta")))
        if kind == "response.output_item.added":
            return self._added(data)
        if kind == "response.output_item.done":
            return self._done(data)
        self._state(kind, data)
        return []

    def _state(self, kind: JsonValue, data: Json) -> None:
        """Events of the answer as a whole."""
        response = object_in(data.get("response"))
        if kind == "error":
            raise self._failure(data.get("error") or data)
        if kind == "response.failed":
            self._note(response)
            self.draft.raw_stop = text_in(response.get("status")) or None
            raise self._failure(response.get("error") or response)
        if kind in _LAST:
            self._end(response)
        elif response:
            self._note(response)

    def finish(self) -> tuple[list[Delta], AssistantMessage]:
        """The end of the stream: the whole message."""
        provider = self.draft.info.provider
        events = self.draft.untold()
        if self._status is None:
            raise broken(CUT, provider=provider)
        if self._status in ("failed", "cancelled"):
            raise broken(f"the answer was {self._status}", provider=provider)
        if self._status == "incomplete":
            why = (self.draft.raw_stop or "").partition(".")[2]
            if why in _LIMITS:
                return events, self.draft.message("length")
            words = (
                FILTERED if why == "content_filter" else UNFINISHED.format(why=why or "no reason")
            )
            return events, self.draft.message("error", words)
        stop = "toolUse" if self.draft.has_calls else "stop"
        return events, self.draft.message(stop)

    def _failure(self, error: JsonValue) -> Exception:
        return in_stream(error, provider=self.draft.info.provider)

    def _at(self, data: Json, kind: type[TextPart | ThinkingPart | CallPart]) -> int:
        """Where the part of an event stands: by item, by place in the output, else the last."""
        for key in _keys(data, text_in(data.get("item_id"))):
            at = self._places.get(key, -1)
            if at >= 0 and isinstance(self.draft.parts[at], kind):
                return at
        if self._last_place >= 0 and isinstance(self.draft.parts[self._last_place], kind):
            return self._last_place
        return self._place(data, text_in(data.get("item_id")), kind())

    def _place(self, data: Json, item_id: str, part: TextPart | ThinkingPart | CallPart) -> int:
        at = self.draft.add(part)
        for key in _keys(data, item_id):
            self._places[key] = at
        self._last_place = at
        return at

    def _added(self, data: Json) -> list[Delta]:
        item = object_in(data.get("item"))
        part = _part(item)
        if part is None:
            return []
        at = self._place(data, text_in(item.get("id")), part)
        return self.draft.call(at, text_in(item.get("arguments")))

    def _thought(self, data: Json) -> list[Delta]:
        at = self._at(data, ThinkingPart)
        place = data.get("summary_index", data.get("content_index"))
        events: list[Delta] = []
        if at in self._summaries and self._summaries[at] != place:
            events += self.draft.text(at, PARAGRAPH)
        self._summaries[at] = place
        return events + self.draft.text(at, text_in(data.get("delta")))

    def _done(self, data: Json) -> list[Delta]:
        item = object_in(data.get("item"))
        fresh = _part(item)
        if fresh is None:
            return []
        at = self._at(data, type(fresh))
        part = self.draft.parts[at]
        whole = _whole(item)
        match part:
            case TextPart():
                part.signature = _signature(item)
            case ThinkingPart():
                part.signature = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
                whole = whole or "".join(part.pieces)
            case CallPart():
                assert isinstance(fresh, CallPart)
                part.id, part.name = part.id or fresh.id, part.name or fresh.name
        return self._settle(at, part, whole)

    def _settle(self, at: int, part: TextPart | ThinkingPart | CallPart, whole: str) -> list[Delta]:
        """Tell what the deltas left out; where the whole differs from them, it wins silently."""
        told = "".join(part.pieces)
        if whole.startswith(told):
            rest = whole[len(told) :]
            return (
                self.draft.call(at, rest)
                if isinstance(part, CallPart)
                else (self.draft.text(at, rest))
            )
        part.pieces[:] = [whole]
        return []

    def _note(self, response: Json) -> None:
        name, model = response.get("id"), response.get("model")
        if isinstance(name, str):
            self.draft.response_id = name
        if isinstance(model, str) and model and model != self.draft.info.id:
            self.draft.response_model = model
        usage = object_in(response.get("usage"))
        if usage:
            self._usage(usage)

    def _end(self, response: Json) -> None:
        self._note(response)
        status = text_in(response.get("status")) or "completed"
        reason = text_in(object_in(response.get("incomplete_details")).get("reason"))
        self._status = status
        self.draft.raw_stop = f"{status}.{reason}" if reason else status
        for item in objects_in(response.get("output")):
            self._late(item)

    def _late(self, item: Json) -> None:
        """Encrypted reasoning that came only with the end."""
        at = self._places.get(f"id:{text_in(item.get('id'))}")
        part = self.draft.parts[at] if at is not None else None
        if isinstance(part, ThinkingPart) and item.get("encrypted_content"):
            kept = object_in(decoded(part.signature or "{}"))
            kept = {**item, **kept, "encrypted_content": item["encrypted_content"]}
            part.signature = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))

    def _usage(self, usage: Json) -> None:
        prompt = count(usage.get("input_tokens"))
        details = object_in(usage.get("input_tokens_details"))
        read, write = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
        told = object_in(usage.get("output_tokens_details"))
        self.draft.usage = priced(
            self.draft.info.price,
            input=max(0, prompt - read - write),
            output=count(usage.get("output_tokens")),
            cache_read=read,
            cache_write=write,
            reasoning=count(told.get("reasoning_tokens")),
            total=count(usage.get("total_tokens")),
        )


def _keys(data: Json, item_id: str) -> list[str]:
    keys = [f"id:{item_id}"] if item_id else []
    index = data.get("output_index")
    return [*keys, f"at:{index}"] if isinstance(index, int) else keys


def _part(item: Json) -> TextPart | ThinkingPart | CallPart | None:
    match item.get("type"):
        case "message":
            return TextPart()
        case "reasoning":
            return ThinkingPart()
        case "function_call":
            call_id = text_in(item.get("call_id")) or new_call_id()
            item_id = text_in(item.get("id"))
            both = f"{call_id}|{item_id}" if item_id else call_id
            return CallPart(both, text_in(item.get("name")))
        case _:
            return None


def _whole(item: Json) -> str:
    """What the end of an item says it is."""
    if item.get("type") == "function_call":
        return text_in(item.get("arguments"))
    if item.get("type") == "reasoning":
        summary = objects_in(item.get("summary") or item.get("content"))
        return PARAGRAPH.join(text_in(part.get("text")) for part in summary)
    parts = objects_in(item.get("content"))
    return "".join(text_in(p.get("text")) or text_in(p.get("refusal")) for p in parts)


def _signature(item: Json) -> str:
    kept: Json = {"v": 1, "id": text_in(item.get("id"))}
    phase = item.get("phase")
    return json.dumps(kept | ({"phase": phase} if phase else {}), separators=(",", ":"))
