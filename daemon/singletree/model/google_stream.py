"""Google's generative language API: the answer's events become deltas and one message.

An event is a piece of the whole answer: parts of text and of thought that go on with the last one,
calls that come whole. Pure: fed with server events, waits for nothing. Read next: draft.py (where
parts grow), failure.py (an error event).
"""

from __future__ import annotations

import json

from singletree.jsontext import Json, object_in, objects_in, text_in
from singletree.messages import AssistantMessage
from singletree.model.base import Delta
from singletree.model.draft import CallPart, Draft, TextPart, ThinkingPart
from singletree.model.failure import broken, in_stream, provider_words
from singletree.model.openai_stream import FILTERED, NO_END, loaded
from singletree.model.sse import ServerEvent
from singletree.model.usage import count, priced

REFUSED = "The provider's content filter refused the request."

_UNSAID = "FINISH_REASON_UNSPECIFIED"
_FILTERS = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "IMAGE_SAFETY",
    "IMAGE_RECITATION",
    "IMAGE_PROHIBITED_CONTENT",
)


class GenerateDecoder:
    """One answer of a generative language server."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._open: TextPart | ThinkingPart | None = None
        self._refused = False
        self._words = ""
        self._counted: Json = {}

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing more comes."""
        return self.draft.raw_stop is not None

    def feed(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event. ModelError if it says that something failed."""
        if not event.data.startswith("{"):
            return []
        chunk = loaded(event.data, self.draft.info.provider)
        error = chunk.get("error") or (chunk if event.name == "error" else None)
        if error:
            raise in_stream(error, provider=self.draft.info.provider)
        self._note(chunk)
        candidates = objects_in(chunk.get("candidates"))
        if not candidates:
            return []
        parts = objects_in(object_in(candidates[0].get("content")).get("parts"))
        events = [delta for part in parts for delta in self._part(part)]
        reason = text_in(candidates[0].get("finishReason"))
        if reason and reason != _UNSAID:
            self.draft.raw_stop = reason
            self._words = provider_words(text_in(candidates[0].get("finishMessage")))
        return events

    def finish(self) -> tuple[list[Delta], AssistantMessage]:
        """The end of the stream: the whole message. Only what ended well is an answer."""
        reason, provider = self.draft.raw_stop, self.draft.info.provider
        self._price(self._counted)
        if self._refused:
            return [], self.draft.message("error", REFUSED)
        if reason is None:
            raise broken(NO_END, provider=provider)
        if reason in _FILTERS:
            return [], self.draft.message("error", FILTERED)
        if reason == "MAX_TOKENS":
            return [], self.draft.message("length")
        if reason == "STOP":
            return [], self.draft.message("toolUse" if self.draft.has_calls else "stop")
        words = f": {self._words}" if self._words else ""
        raise broken(f"the answer ended with {reason}{words}", provider=provider)

    def _note(self, chunk: Json) -> None:
        name, model = text_in(chunk.get("responseId")), text_in(chunk.get("modelVersion"))
        self.draft.response_id = self.draft.response_id or name or None
        if model and model != self.draft.info.id:
            self.draft.response_model = model
        blocked = text_in(object_in(chunk.get("promptFeedback")).get("blockReason"))
        if blocked:
            self._refused = True
            self.draft.raw_stop = blocked
        self._counted = object_in(chunk.get("usageMetadata")) or self._counted

    def _part(self, part: Json) -> list[Delta]:
        signature = text_in(part.get("thoughtSignature")) or None
        if isinstance(part.get("functionCall"), dict):
            return self._call(object_in(part["functionCall"]), signature)
        text = part.get("text")
        if not isinstance(text, str) or not (text or signature):
            return []
        kind = ThinkingPart if part.get("thought") is True else TextPart
        if self._open is None or not isinstance(self._open, kind):
            self._open = kind()
            self.draft.add(self._open)
        self._open.signature = signature or self._open.signature
        return self.draft.text(len(self.draft.parts) - 1, text)

    def _call(self, call: Json, signature: str | None) -> list[Delta]:
        """A call comes whole, often without an id."""
        self._open = None
        arguments = json.dumps(object_in(call.get("args")), ensure_ascii=False)
        part = CallPart(text_in(call.get("id")), text_in(call.get("name")), [arguments])
        part.signature = signature
        return self.draft.tell(self.draft.add(part))

    def _price(self, usage: Json) -> None:
        """Cached tokens are part of the prompt's, thoughts stand beside the answer.

        Every event has figures, and only the last ones count.
        """
        prompt = count(usage.get("promptTokenCount"))
        read = min(count(usage.get("cachedContentTokenCount")), prompt)
        thought = count(usage.get("thoughtsTokenCount"))
        self.draft.usage = priced(
            self.draft.info.price,
            input=prompt - read + count(usage.get("toolUsePromptTokenCount")),
            output=count(usage.get("candidatesTokenCount")) + thought,
            cache_read=read,
            reasoning=thought,
        )
