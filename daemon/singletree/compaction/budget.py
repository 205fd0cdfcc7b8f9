"""How full the window is: estimates, the provider's own figures, the threshold.

Sizes of text are UTF-16 units, four to a token. Where a provider has counted, its figure stands for
all up to that answer and only what came later is estimated. Never knows settings files or models.
Read next: plan.py (what to give up when it is too full).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from singletree.compaction.js import stringify
from singletree.context.projection import Projection
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    Block,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Image,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
    utf16_units,
)

UNITS_PER_TOKEN = 4
IMAGE_UNITS = 4800
_WITH_CONTENT = (AssistantMessage, ToolResultMessage, UserMessage, CustomMessage)
_FEW = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """When to compact and how much to keep, in tokens."""

    reserve: int = 16_384
    keep_recent: int = 20_000
    enabled: bool = True

    def fit(self, window: int) -> Limits:
        """These limits for a window; where the reserve leaves nothing, a quarter of it for each."""
        if window <= 0 or self.reserve < window:
            return self
        return Limits(window // 4, window // 4, self.enabled)


@dataclass(frozen=True, slots=True)
class Size:
    """Tokens of a context: `measured` by the provider up to message `at`, `estimated` after it.

    `at` None: nothing is measured.
    """

    measured: int
    estimated: int
    at: int | None

    @property
    def tokens(self) -> int:
        """The figure that is compared with the threshold."""
        return self.measured + self.estimated


def over(tokens: int, window: int, reserve: int) -> bool:
    """Whether the context is too full: more than the window without the reserve."""
    return tokens > window - reserve


def context_tokens(projection: Projection, fixed: int = 0) -> Size:
    """Tokens of a context.

    `fixed`: an estimate of what is sent beside the messages (system prompt, tools); a measured
    figure holds it already.
    """
    return Gauge().context_tokens(projection, fixed)


class Gauge:
    """`context_tokens` for a caller that asks again and again with a longer context.

    Every message is looked at once, as long as the beginning is the same objects.
    """

    def __init__(self) -> None:
        self._forget()

    def context_tokens(self, projection: Projection, fixed: int = 0) -> Size:
        """Tokens of a context."""
        self._look(projection.messages)
        at = self._measured_at
        if at is None or at < projection.fresh:
            return Size(0, self._estimated_from(0) + fixed, None)
        return Size(self._measured, self._estimated_from(at + 1), at)

    def _forget(self) -> None:
        self._seen: list[AgentMessage] = []
        self._sums = [0]
        self._measured_at: int | None = None
        self._measured = 0

    def _look(self, messages: Sequence[AgentMessage]) -> None:
        if len(messages) < len(self._seen) or not all(map(is_, self._seen, messages)):
            self._forget()
        for message in messages[len(self._seen) :]:
            tokens = measured(message) if isinstance(message, AssistantMessage) else 0
            if tokens:
                self._measured_at, self._measured = len(self._seen), tokens
            self._seen.append(message)

    def _estimated_from(self, start: int) -> int:
        """Estimated tokens of the messages from `start` on."""
        if len(self._seen) - start < _FEW:
            return sum(map(estimate, self._seen[start:]))
        for message in self._seen[len(self._sums) - 1 :]:
            self._sums.append(self._sums[-1] + estimate(message))
        return self._sums[-1] - self._sums[start]


def measured(message: AssistantMessage) -> int:
    """Tokens in the window as the provider counted them; 0 where the answer is no measure.

    Some servers count only the answer where they had the beginning in their cache.
    """
    used = message.usage.used
    return 0 if message.failed or used <= message.usage.output else used


def estimate(message: AgentMessage) -> int:
    """Tokens of one message, guessed from its length."""
    return math.ceil(units(message) / UNITS_PER_TOKEN)


def estimate_text(text: str) -> int:
    """Tokens of a text, guessed from its length."""
    return math.ceil(utf16_units(text) / UNITS_PER_TOKEN)


def units(message: AgentMessage) -> int:
    """The length that counts, in UTF-16 units."""
    if isinstance(message, _WITH_CONTENT):
        return _content_units(message.content)
    match message:
        case BashExecutionMessage():
            return utf16_units(message.command) + utf16_units(message.output)
        case CompactionSummaryMessage() | BranchSummaryMessage():
            return utf16_units(message.summary)
        case SystemMessage():
            extra = message.model_extra or {}
            sections = sum(utf16_units(text or "") for text in (message.sections or {}).values())
            tools = utf16_units(stringify(extra["toolsAdded"])) if extra.get("toolsAdded") else 0
            return _content_units(message.content) + sections + tools
        case UnknownMessage():
            return 0


def _content_units(content: str | Sequence[Block]) -> int:
    if isinstance(content, str):
        return utf16_units(content)
    total = 0
    for block in content:
        if isinstance(block, Text):
            total += utf16_units(block.text)
        elif isinstance(block, Thinking):
            total += utf16_units(block.thinking)
        elif isinstance(block, ToolCall):
            total += utf16_units(block.name) + utf16_units(stringify(block.arguments))
        elif isinstance(block, Image):
            total += IMAGE_UNITS
    return total
