"""An answer that is still coming: parts grow by deltas and become one message.

Never knows a provider's format. Read next: openai_stream.py (the one with the most dialects).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

from singletree.messages import (
    AssistantMessage,
    Block,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    Usage,
    now_ms,
    well_formed,
)
from singletree.model.base import Delta, ModelInfo, TextDelta, ThinkingDelta, ToolCallDelta
from singletree.model.partial_json import read_call

UNNAMED_TOOL = "unnamed_tool"


@dataclass(slots=True)
class TextPart:
    """Text as it grows."""

    pieces: list[str] = field(default_factory=list)
    signature: str | None = None


@dataclass(slots=True)
class ThinkingPart:
    """Reasoning as it grows."""

    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: bool = False


@dataclass(slots=True)
class CallPart:
    """A call as it grows. It is told of when its id and its name are known."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    told_pieces: int = 0
    told: bool = False
    signature: str | None = None


Part = TextPart | ThinkingPart | CallPart


class Draft:
    """The parts in order, and what is known of the answer as a whole."""

    def __init__(
        self,
        info: ModelInfo,
        level: ThinkingLevel = "off",
        taken: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._taken = taken
        self.info = info
        self.level = level
        self.parts: list[Part] = []
        self.usage = Usage()
        self.response_id: str | None = None
        self.response_model: str | None = None
        self.raw_stop: str | None = None
        self._started = now_ms()

    def add(self, part: Part) -> int:
        """Begin a part; its index."""
        self.parts.append(part)
        return len(self.parts) - 1

    def text(self, index: int, text: str) -> list[Delta]:
        """More of the text or reasoning at `index`."""
        part = self.parts[index]
        if not text or isinstance(part, CallPart):
            return []
        part.pieces.append(text)
        if isinstance(part, TextPart):
            return [TextDelta(index, text)]
        return [ThinkingDelta(index, text)]

    def call(self, index: int, text: str) -> list[Delta]:
        """More of the arguments at `index`; told at once when the call has id and name."""
        part = self.parts[index]
        if not isinstance(part, CallPart):
            return []
        part.pieces.append(text)
        return self.tell(index) if part.id and part.name else []

    def tell(self, index: int) -> list[Delta]:
        """What of a call was not told yet. Makes up what it lacks."""
        part = self.parts[index]
        if not isinstance(part, CallPart):
            return []
        if not part.told:
            part.id = self._unique(part.id)
            part.name = part.name or UNNAMED_TOOL
        fresh = part.pieces[part.told_pieces :] or ([] if part.told else [""])
        part.told = True
        part.told_pieces = len(part.pieces)
        return [ToolCallDelta(index, part.id, part.name, text) for text in fresh]

    def _unique(self, call_id: str) -> str:
        """An id that no other call of the conversation has: some servers count anew each time."""
        if not call_id:
            return new_call_id()
        others = (p.id for p in self.parts if isinstance(p, CallPart) and p.told)
        if call_id in others or self._taken(call_id):
            return f"{call_id}_{uuid4().hex[:8]}"
        return call_id

    def untold(self) -> list[Delta]:
        """What of any call was not told yet, at the end of an answer."""
        return [event for index in range(len(self.parts)) for event in self.tell(index)]

    @property
    def has_calls(self) -> bool:
        """Whether it asks for a tool."""
        return any(isinstance(part, CallPart) for part in self.parts)

    def message(self, stop_reason: str, error_message: str | None = None) -> AssistantMessage:
        """The answer as it is now."""
        return AssistantMessage(
            content=[_block(part) for part in self.parts],
            api=self.info.api,
            provider=self.info.provider,
            model=self.info.id,
            response_model=self.response_model,
            response_id=self.response_id,
            thinking_level=self.level if self.info.reasoning else None,
            usage=self.usage,
            stop_reason=stop_reason,
            error_message=error_message,
            raw_stop_reason=self.raw_stop,
            timestamp=self._started,
        )


def new_call_id() -> str:
    """An id for a call that came without one; no other call ever has it."""
    return f"call_{uuid4().hex[:24]}"


def _block(part: Part) -> Block:
    text = well_formed("".join(part.pieces))
    match part:
        case TextPart():
            return Text(text=text, text_signature=part.signature)
        case ThinkingPart():
            return Thinking(
                thinking=text, thinking_signature=part.signature, redacted=part.redacted or None
            )
        case CallPart():
            arguments, error = read_call("".join(part.pieces))
            return ToolCall(
                id=part.id,
                name=part.name,
                arguments=arguments,
                arguments_error=error,
                thought_signature=part.signature,
            )
