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
from singletree.context.projection import Projection, project
from singletree.history.entries import CompactionEntry, ContextEditEntry, Entry
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

UNITS_PER_TOKEN = 4.0
CAUTIOUS_UNITS_PER_TOKEN = 3.5
"""For requests that must fit: most tokenisers need more tokens than the plain estimate says."""

IMAGE_UNITS = 4800
_FAILED = ("error", "aborted")
_WITH_CONTENT = (AssistantMessage, ToolResultMessage, UserMessage, CustomMessage)
_CHANGES = (CompactionEntry, ContextEditEntry)
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


def context_tokens(
    path: Sequence[Entry], projection: Projection | None = None, fixed: int = 0
) -> Size:
    """Tokens of a path's context.

    Figures from before its last compaction or edit are not trusted. `fixed`: an estimate of what is
    sent beside the messages (system prompt, tools); a measured figure holds it already.
    """
    return Gauge().context_tokens(path, projection or project(path), fixed)


class Gauge:
    """`context_tokens` for a caller that asks again and again with a longer path.

    A message is estimated once, as long as the beginning is the same objects.
    """

    def __init__(self) -> None:
        self._seen: list[AgentMessage] = []
        self._sums = [0]

    def context_tokens(self, path: Sequence[Entry], projection: Projection, fixed: int = 0) -> Size:
        """Tokens of a path's context; `projection` is that of the path."""
        messages = projection.messages
        at = _last_measured(messages, _trusted(path, projection.sources))
        if at is not None:
            message = messages[at]
            assert isinstance(message, AssistantMessage)
            return Size(measured(message), self._between(messages, at + 1), at)
        return Size(0, self._between(messages, 0) + fixed, None)

    def _between(self, messages: Sequence[AgentMessage], start: int) -> int:
        """Estimated tokens of the messages from `start` on."""
        if len(messages) - start < _FEW:
            return sum(map(estimate, messages[start:]))
        known = len(self._seen)
        if len(messages) < known or not all(map(is_, self._seen, messages)):
            self._seen, self._sums, known = [], [0], 0
        for message in messages[known:]:
            self._seen.append(message)
            self._sums.append(self._sums[-1] + estimate(message))
        return self._sums[-1] - self._sums[start]


def heaviest(projection: Projection) -> tuple[str, AgentMessage, int] | None:
    """What takes the most room: entry id, message, tokens. For telling what is too large."""
    rows = zip(projection.sources, projection.messages, strict=True)
    return max(
        ((source, message, estimate(message)) for source, message in rows),
        key=lambda row: row[2],
        default=None,
    )


def size(messages: Sequence[AgentMessage], trusted_from: int = 0) -> Size:
    """Tokens of messages; only answers from index `trusted_from` on count as measured."""
    at = _last_measured(messages, trusted_from)
    if at is None:
        return Size(0, sum(map(estimate, messages)), None)
    message = messages[at]
    assert isinstance(message, AssistantMessage)
    return Size(measured(message), sum(map(estimate, messages[at + 1 :])), at)


def measured(message: AssistantMessage) -> int:
    """Tokens in the window as the provider counted them; 0 where the answer is no measure."""
    return 0 if message.stop_reason in _FAILED else message.usage.used


def estimate(message: AgentMessage, units_per_token: float = UNITS_PER_TOKEN) -> int:
    """Tokens of one message, guessed from its length."""
    return tokens_of(units(message), units_per_token)


def estimate_text(text: str, units_per_token: float = UNITS_PER_TOKEN) -> int:
    """Tokens of a text, guessed from its length."""
    return tokens_of(utf16_units(text), units_per_token)


def tokens_of(count: int, units_per_token: float = UNITS_PER_TOKEN) -> int:
    """UTF-16 units as tokens, rounded up."""
    return math.ceil(count / units_per_token)


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


def _last_measured(messages: Sequence[AgentMessage], trusted_from: int) -> int | None:
    for at in range(len(messages) - 1, trusted_from - 1, -1):
        message = messages[at]
        if isinstance(message, AssistantMessage) and measured(message):
            return at
    return None


def _trusted(path: Sequence[Entry], sources: Sequence[str]) -> int:
    """The index of the first message from after the last compaction or edit."""
    for at in range(len(path) - 1, -1, -1):
        if isinstance(path[at], _CHANGES):
            fresh = {entry.id for entry in path[at + 1 :]}
            return next((i for i, source in enumerate(sources) if source in fresh), len(sources))
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
