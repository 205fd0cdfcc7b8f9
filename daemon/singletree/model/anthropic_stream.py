"""The messages API: the answer's events become deltas and one message.

Pure: fed with server events, waits for nothing. What comes after the end is ignored, blocks of
kinds we do not know too. Read next: draft.py (where parts grow), failure.py (an error event).
"""

from __future__ import annotations

import json

from singletree.jsontext import Json, object_in, text_in
from singletree.messages import AssistantMessage
from singletree.model.anthropic_thinking import fallbacks
from singletree.model.base import Delta
from singletree.model.draft import CallPart, Draft, TextPart, ThinkingPart, new_call_id
from singletree.model.failure import broken, in_stream
from singletree.model.openai_stream import NO_END, loaded
from singletree.model.sse import ServerEvent
from singletree.model.usage import count, priced

REFUSED = "The provider's safety filter ended the answer."
CUT = "the answer was cut off before its end"

_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}
_REFUSALS = ("refusal", "sensitive")
_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class MessagesDecoder:
    """One answer of a messages server."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._blocks: dict[int, int] = {}
        self._tokens: dict[str, int] = {}
        self._hour: int | None = None
        self._thought: int | None = None
        self._price = draft.info.price
        self._over = False

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing more comes."""
        return self._over

    def feed(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event. ModelError if it says that something failed."""
        if self._over or not event.data.startswith("{"):
            return []
        data = loaded(event.data, self.draft.info.provider)
        kind = data.get("type") or event.name
        match kind:
            case "content_block_delta":
                return self._delta(_index(data), object_in(data.get("delta")))
            case "content_block_start":
                return self._start(_index(data), object_in(data.get("content_block")))
            case "message_start":
                self._begin(object_in(data.get("message")))
            case "message_delta":
                self._end(object_in(data.get("delta")), object_in(data.get("usage")))
            case "message_stop":
                self._over = True
            case "error":
                error = data.get("error") or data
                raise in_stream(error, provider=self.draft.info.provider)
            case _:
                pass
        return []

    def finish(self) -> tuple[list[Delta], AssistantMessage]:
        """The end of the stream: the whole message."""
        provider = self.draft.info.provider
        reason = self.draft.raw_stop
        if not self._over:
            raise broken(CUT, provider=provider)
        if reason is None:
            raise broken(NO_END, provider=provider)
        if reason in _REFUSALS:
            return [], self.draft.message("error", REFUSED)
        return [], self.draft.message(_STOPS.get(reason, "stop"))

    def _begin(self, message: Json) -> None:
        name, model = message.get("id"), message.get("model")
        if isinstance(name, str):
            self.draft.response_id = name
        if isinstance(model, str) and model and model != self.draft.info.id:
            self.draft.response_model = model
            self._price = fallbacks(self.draft.info).get(model, self._price)
        self._usage(object_in(message.get("usage")))

    def _end(self, delta: Json, usage: Json) -> None:
        reason = delta.get("stop_reason")
        if isinstance(reason, str):
            self.draft.raw_stop = reason
        self._usage(usage)

    def _start(self, index: int, block: Json) -> list[Delta]:
        match block.get("type"):
            case "text":
                self._blocks[index] = self.draft.add(TextPart())
                return self.draft.text(self._blocks[index], text_in(block.get("text")))
            case "thinking":
                part = ThinkingPart(signature=text_in(block.get("signature")))
                self._blocks[index] = self.draft.add(part)
                return self.draft.text(self._blocks[index], text_in(block.get("thinking")))
            case "redacted_thinking":
                hidden = ThinkingPart(signature=text_in(block.get("data")), redacted=True)
                self._blocks[index] = self.draft.add(hidden)
            case "tool_use":
                name = text_in(block.get("name"))
                call = CallPart(text_in(block.get("id")) or new_call_id(), name)
                self._blocks[index] = self.draft.add(call)
                given = block.get("input")
                return self.draft.call(self._blocks[index], json.dumps(given) if given else "")
            case _:
                pass
        return []

    def _delta(self, index: int, delta: Json) -> list[Delta]:
        at = self._blocks.get(index)
        if at is None:
            return self._unbegun(index, delta)
        match delta.get("type"):
            case "text_delta":
                return self.draft.text(at, text_in(delta.get("text")))
            case "thinking_delta":
                return self.draft.text(at, text_in(delta.get("thinking")))
            case "input_json_delta":
                return self.draft.call(at, text_in(delta.get("partial_json")))
            case "signature_delta":
                part = self.draft.parts[at]
                if isinstance(part, ThinkingPart):
                    part.signature = (part.signature or "") + text_in(delta.get("signature"))
            case _:
                pass
        return []

    def _unbegun(self, index: int, delta: Json) -> list[Delta]:
        """Words of a block whose start did not come are not lost."""
        begun = {"text_delta": TextPart, "thinking_delta": ThinkingPart}
        kind = begun.get(text_in(delta.get("type")))
        if kind is None:
            return []
        self._blocks[index] = self.draft.add(kind())
        return self._delta(index, delta)

    def _usage(self, usage: Json) -> None:
        """Later figures win; null says nothing."""
        for field in _FIELDS:
            if usage.get(field) is not None:
                self._tokens[field] = count(usage[field])
        kept = object_in(usage.get("cache_creation"))
        if kept or self._hour is None:
            self._hour = count(kept.get("ephemeral_1h_input_tokens"))
        details = object_in(usage.get("output_tokens_details"))
        if details.get("thinking_tokens") is not None:
            self._thought = count(details["thinking_tokens"])
        tokens = [self._tokens.get(field, 0) for field in _FIELDS]
        self.draft.usage = priced(
            self._price,
            input=tokens[0],
            output=tokens[1],
            cache_read=tokens[2],
            cache_write=tokens[3],
            cache_write_1h=self._hour,
            reasoning=self._thought,
        )


def _index(data: Json) -> int:
    index = data.get("index")
    return index if isinstance(index, int) else 0
