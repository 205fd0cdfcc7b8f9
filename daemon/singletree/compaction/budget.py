"""How full the window is: estimates, the provider's own figures, the threshold.

Sizes of text are UTF-16 units, four to a token. Where a provider has counted, its figure stands for
all up to that answer and only what came later is estimated. Never knows settings files or models.
Read next: plan.py (what to give up when it is too full).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


def context_tokens(path: Sequence[Entry], projection: Projection | None = None) -> Size:
    """Tokens of a path's context.

    Figures from before its last compaction or edit are not trusted. `fixed` parts (system prompt,
    tools) are inside a measured figure and outside an estimated one: the caller adds them where
    `at` is None.
    """
    projection = projection or project(path)
    changed = max(
        (i for i, e in enumerate(path) if isinstance(e, CompactionEntry | ContextEditEntry)),
        default=-1,
    )
    fresh = {entry.id for entry in path[changed + 1 :]}
    trusted = next(
        (i for i, source in enumerate(projection.sources) if source in fresh),
        len(projection.sources),
    )
    return size(projection.messages, trusted)


def size(messages: Sequence[AgentMessage], trusted_from: int = 0) -> Size:
    """Tokens of messages; only answers from index `trusted_from` on count as measured."""
    for at in range(len(messages) - 1, trusted_from - 1, -1):
        message = messages[at]
        if isinstance(message, AssistantMessage):
            used = measured(message)
            if used:
                return Size(used, sum(map(estimate, messages[at + 1 :])), at)
    return Size(0, sum(map(estimate, messages)), None)


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
    return int(-(-count // units_per_token))


def units(message: AgentMessage) -> int:
    """The length that counts, in UTF-16 units."""
    match message:
        case AssistantMessage() | UserMessage() | ToolResultMessage() | CustomMessage():
            return _content_units(message.content)
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
    return sum(map(_block_units, content))


def _block_units(block: Block) -> int:
    match block:
        case Text(text=text):
            return utf16_units(text)
        case Thinking(thinking=text):
            return utf16_units(text)
        case ToolCall():
            return utf16_units(block.name) + utf16_units(stringify(block.arguments))
        case Image():
            return IMAGE_UNITS
        case _:
            return 0
