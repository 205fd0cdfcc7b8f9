"""What was streamed so far of an answer that may never come to its end.

Pure: no I/O, no clock beyond a message's own. The model's own message is the authority; a
draft speaks only when there is none. Read next: loop.py (who keeps one while an answer streams).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from singletree.messages import (
    AssistantMessage,
    Block,
    StopReason,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    well_formed,
)
from singletree.model.base import Delta, ModelInfo, TextDelta, ThinkingDelta, ToolCallDelta
from singletree.model.growing import Growing
from singletree.model.partial_json import read_call


@dataclass(slots=True)
class _Part:
    first: Delta
    text: Growing = field(default_factory=Growing)

    def block(self) -> Block | None:
        text = well_formed(str(self.text))
        match self.first:
            case TextDelta():
                return Text(text=text) if text else None
            case ThinkingDelta():
                return Thinking(thinking=text) if text else None
            case ToolCallDelta(call_id=call_id, name=name):
                return _call(call_id, name, text)


class Draft:
    """Takes deltas, gives the message they amount to."""

    def __init__(self, info: ModelInfo, thinking: ThinkingLevel = "off") -> None:
        self._info = info
        self._thinking = thinking
        self._parts: dict[int, _Part] = {}

    def feed(self, delta: Delta) -> None:
        """One more piece; a part keeps the kind of its first delta."""
        part = self._parts.get(delta.part)
        if part is None:
            part = self._parts[delta.part] = _Part(delta)
        if type(part.first) is type(delta):
            part.text.add(delta.text)

    def message(
        self, stop_reason: StopReason = "stop", error_message: str | None = None
    ) -> AssistantMessage:
        """The answer as far as it came, in the order of its parts."""
        blocks = (self._parts[index].block() for index in sorted(self._parts))
        return AssistantMessage(
            content=[block for block in blocks if block is not None],
            api=self._info.api,
            provider=self._info.provider,
            model=self._info.id,
            thinking_level=self._thinking if self._info.reasoning else None,
            stop_reason=stop_reason,
            error_message=error_message,
        )


def _call(call_id: str, name: str, raw: str) -> ToolCall:
    arguments, error = read_call(raw)
    return ToolCall(id=call_id, name=name, arguments=arguments, arguments_error=error)
