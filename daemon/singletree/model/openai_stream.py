"""Chat completions: the answer's events become deltas and one message.

Tolerates what servers do differently: calls without id or index, arguments as an object, reasoning
under three names, usage in several places. Pure: fed with server events, waits for nothing. Read
next: draft.py (where parts grow), failure.py (what an error event means).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite

from pydantic import JsonValue

from singletree.jsontext import DEPTH, Json, is_deep
from singletree.messages import AssistantMessage
from singletree.model.base import Delta
from singletree.model.dialect import flag
from singletree.model.draft import CallPart, Draft, TextPart, ThinkingPart, new_call_id
from singletree.model.failure import broken, in_stream
from singletree.model.openai import REASONING_FIELDS
from singletree.model.partial_json import PartialJson
from singletree.model.sse import ServerEvent
from singletree.model.usage import count, dollars, priced

FILTERED = "The provider's content filter ended the answer."
NO_END = "the answer ended without a stop reason"
BAD_EVENT = "an event of the answer could not be read"

_STOPS = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "tool_calls": "toolUse",
    "tool_call": "toolUse",
    "function_call": "toolUse",
    "tool_use": "toolUse",
}
_FILTERS = ("content_filter", "content-filter", "safety", "refusal", "recitation")
_FAILURES = ("error", "network_error", "failed")
_CACHE_READS = ("prompt_cache_hit_tokens", "cached_tokens")
"""Where DeepSeek and Kimi count what came from a cache."""


def _finite(text: str) -> float | None:
    """A number, null where it is too large: some servers send such likelihoods."""
    number = float(text)
    return number if isfinite(number) else None


_decode: Callable[[str], tuple[JsonValue, int]] = json.JSONDecoder(
    parse_float=_finite, parse_constant=lambda name: None
).raw_decode


class ChatDecoder:
    """One answer of a chat completions server."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._text = -1
        self._thinking = -1
        self._details: list[_Detail] = []
        self._calls: list[_Call] = []
        self._over = False

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing more comes."""
        return self._over

    def feed(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event. ModelError if it says that something failed."""
        data = event.data
        if self._over or data[:1] != "{":
            self._over = self._over or data.startswith("[DONE]")
            return []
        chunk = loaded(data, self.draft.info.provider)
        error = chunk.get("error") or (chunk if event.name == "error" else None)
        if error:
            raise in_stream(error, provider=self.draft.info.provider)
        self._note(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return []
        delta = choice.get("delta") or choice.get("message")
        events = self._delta(delta) if isinstance(delta, dict) else []
        usage = choice.get("usage")
        if isinstance(usage, dict) and usage:
            self._usage(usage)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.draft.raw_stop = reason
        return events

    def finish(self) -> tuple[list[Delta], AssistantMessage]:
        """The end of the stream: what was not told yet, and the whole message."""
        if self._details:
            part = self.draft.parts[self._thinking_part("")]
            assert isinstance(part, ThinkingPart)
            part.signature = _compact([detail.whole() for detail in self._details])
        events = self.draft.untold()
        reason = self.draft.raw_stop
        provider = self.draft.info.provider
        if reason is None:
            if flag(self.draft.info, "supportsFinishReason"):
                raise broken(NO_END, provider=provider)
            stop = "toolUse" if self.draft.has_calls else "stop"
        elif reason.lower() in _FILTERS:
            return events, self.draft.message("error", FILTERED)
        elif reason.lower() in _FAILURES:
            raise broken(f"the answer ended with {reason}", provider=provider)
        else:
            stop = _STOPS.get(reason.lower(), "stop")
        return events, self.draft.message(stop)

    def _note(self, chunk: Json) -> None:
        draft = self.draft
        name, model = chunk.get("id"), chunk.get("model")
        if isinstance(name, str) and name and draft.response_id is None:
            draft.response_id = name
        if isinstance(model, str) and model not in ("", draft.info.id):
            draft.response_model = draft.response_model or model
        usage = chunk.get("usage")
        if isinstance(usage, dict) and usage:
            self._usage(usage)

    def _delta(self, delta: Json) -> list[Delta]:
        content = delta.get("content")
        if len(delta) == 1 and self._text >= 0 and isinstance(content, str):
            return self.draft.text(self._text, content)  # nearly all of them
        events: list[Delta] = []
        for field in REASONING_FIELDS:
            thought = delta.get(field)
            if isinstance(thought, str) and thought:
                events += self.draft.text(self._thinking_part(field), thought)
                break
        details = delta.get("reasoning_details")
        if isinstance(details, list) and details:
            self._reasoning_details(details)
        text = _plain(content) or _plain(delta.get("refusal"))
        if text:
            if self._text < 0:
                self._text = self.draft.add(TextPart())
            events += self.draft.text(self._text, text)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for piece in calls:
                if isinstance(piece, dict):
                    events += self._call(piece)
        return events

    def _thinking_part(self, field: str) -> int:
        if self._thinking < 0:
            self._thinking = self.draft.add(ThinkingPart(signature=field))
        return self._thinking

    def _reasoning_details(self, details: list[JsonValue]) -> None:
        """OpenRouter's own form, kept whole: it wants it back as it was."""
        self._thinking_part("")
        for item in details:
            if isinstance(item, dict):
                if not (self._details and self._details[-1].goes_on_with(item)):
                    self._details.append(_Detail())
                self._details[-1].add(item)

    def _call(self, piece: Json) -> list[Delta]:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        call_id, name = _plain(piece.get("id")), _plain(function.get("name"))
        arguments = function.get("arguments")
        raw = arguments if isinstance(arguments, str) else _dumped(arguments)
        index = piece.get("index")
        call = self._which(index if isinstance(index, int) else None, call_id, name)
        call.json.feed(raw)
        part = call.part
        call.given = call.given or call_id
        part.name = part.name or name
        part.id = part.id or call_id
        if not part.id and call.pieces:  # it will hardly come any more
            part.id = new_call_id()
        call.pieces += 1
        return self.draft.call(call.at, raw)

    def _which(self, index: int | None, call_id: str, name: str) -> _Call:
        """The call that a piece belongs to, or a new one."""
        known = [c for c in self._calls if call_id and c.given == call_id]
        if known and not known[-1].is_another(index, name):
            return known[-1]
        near = [c for c in self._calls if index is None or c.index == index]
        if near and near[-1].goes_on_with(call_id, name):
            return near[-1]
        part = CallPart()
        call = _Call(part, self.draft.add(part), index)
        self._calls.append(call)
        return call

    def _usage(self, usage: Json) -> None:
        prompt, output = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        details = details if isinstance(details, dict) else {}
        told = usage.get("completion_tokens_details")
        told = told if isinstance(told, dict) else {}
        reads = (details.get("cached_tokens"), *(usage.get(name) for name in _CACHE_READS))
        read = count(next((given for given in reads if given is not None), 0))
        write = count(details.get("cache_write_tokens"))
        self.draft.usage = priced(
            self.draft.info.price,
            input=max(0, prompt - read - write),
            output=output,
            cache_read=read,
            cache_write=write,
            reasoning=count(told.get("reasoning_tokens") or usage.get("reasoning_tokens")),
            billed=dollars(usage.get("cost")),
        )


def loaded(data: str, provider: str) -> Json:
    """The object of an event; a passing failure if it is none."""
    try:
        value, end = _decode(data)
    except (ValueError, RecursionError):
        raise broken(BAD_EVENT, provider=provider) from None
    deep = data.count("{") + data.count("[") > DEPTH and is_deep(value)
    if deep or (end != len(data) and data[end:].strip()):
        raise broken(BAD_EVENT, provider=provider)
    return value if isinstance(value, dict) else {}


class _Call:
    """A call in the making: its part, where it stands, and whether its arguments are whole."""

    def __init__(self, part: CallPart, at: int, index: int | None) -> None:
        self.part = part
        self.at = at
        self.index = index
        self.pieces = 0
        self.given = ""
        """The server's own id."""
        self.json = PartialJson()

    def is_another(self, index: int | None, name: str) -> bool:
        """Whether a piece with this call's id begins a second call: some servers repeat ids."""
        return bool(name and not self.json.open and index is not None and index != self.index)

    def goes_on_with(self, call_id: str, name: str) -> bool:
        """Whether a piece at the same place belongs to this call, not to another one."""
        if call_id and self.given and call_id != self.given:
            return False
        return not (name and self.part.name and (call_id or not self.json.open))


class _Detail:
    """One of OpenRouter's reasoning details as it grows: `text` and `summary` come in pieces."""

    def __init__(self) -> None:
        self._fields: Json = {}
        self._grown: dict[str, list[str]] = {}

    def goes_on_with(self, item: Json) -> bool:
        """Whether a piece belongs to this one."""
        here, there = self._fields.get("index"), item.get("index")
        same_place = here is None or there is None or here == there
        return same_place and self._fields.get("type") == item.get("type")

    def add(self, item: Json) -> None:
        """One more piece."""
        for key, value in item.items():
            if key in ("text", "summary") and isinstance(value, str):
                self._grown.setdefault(key, []).append(value)
                value = ""  # keeps its place
            self._fields[key] = value

    def whole(self) -> Json:
        """All of it, its fields in the order in which they came."""
        return self._fields | {key: "".join(pieces) for key, pieces in self._grown.items()}


def _plain(value: JsonValue) -> str:
    """Text, also where it comes as a list of text parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (item.get("text") for item in value if isinstance(item, dict))
        return "".join(text for text in parts if isinstance(text, str))
    return ""


def _dumped(arguments: JsonValue) -> str:
    return "" if arguments is None else _compact(arguments)


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
