"""What is said: content, messages and usage, in the shape they have on disk and on the wire.

The shapes are those of pi's session files, version 3 (camelCase there, snake_case here): a session
can be opened by either program, and unknown fields and kinds are kept. No I/O; the only clock is
`now_ms()`. Read next: model/base.py (who answers) or history/entries.py (how it is kept).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
)
from pydantic.alias_generators import to_camel

StopReason = Literal["stop", "length", "toolUse", "error", "aborted", "deferred"]
ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
"""Thinking levels, the least first."""


def now_ms() -> int:
    """Milliseconds since the epoch, as messages carry them."""
    return time.time_ns() // 1_000_000


class Wire(BaseModel):
    """Base of what travels: camelCase outside, unknown fields kept, never changed in place."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        defer_build=True,
    )

    def dump(self) -> dict[str, JsonValue]:
        """The JSON object: camelCase, absent rather than null."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _no_null_object(value: object) -> object:
    return {} if value is None else value


class Text(Wire):
    """A run of text. `context`: an editor added it; the person wrote none of it."""

    type: Literal["text"] = "text"
    text: str
    text_signature: str | None = None
    context: bool | None = None


class Image(Wire):
    """A picture; `data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class Thinking(Wire):
    """Reasoning of the model; the signature lets the same provider take it back."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None


class ToolCall(Wire):
    """A request of the model to run a tool.

    `arguments_error`: why its arguments could not be read (cut short, no JSON); it is then never
    run and `arguments` hold what could be read.
    """

    type: Literal["toolCall"] = "toolCall"
    id: str
    name: str
    arguments: Annotated[dict[str, JsonValue], BeforeValidator(_no_null_object)] = Field(
        default_factory=dict
    )
    arguments_error: str | None = None
    thought_signature: str | None = None
    namespace: str | None = None


class UnknownBlock(Wire):
    """A kind of content we do not know: kept, never sent."""

    type: str


_KNOWN_BLOCKS = {"text", "image", "thinking", "toolCall"}


def _block_tag(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) and kind in _KNOWN_BLOCKS else "unknown"


def _no_null(value: object) -> object:
    return [] if value is None else value


Block = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Image, Tag("image")]
    | Annotated[Thinking, Tag("thinking")]
    | Annotated[ToolCall, Tag("toolCall")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(_block_tag),
]
Blocks = Annotated[list[Block], BeforeValidator(_no_null)]
Content = Annotated[str | list[Block], BeforeValidator(_no_null)]


class Cost(Wire):
    """US dollars."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total: float = 0
    total_from_provider: float | None = None

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            total=self.total + other.total,
        )


class Usage(Wire):
    """Tokens as the provider counted them.

    `input` excludes cached ones, `reasoning` is part of `output`.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int | None = Field(default=None, alias="cacheWrite1h")
    reasoning: int | None = None
    total_tokens: int = 0
    cost: Cost = Field(default_factory=Cost)

    @property
    def used(self) -> int:
        """Tokens in the window after this answer: the total, or the sum where it is missing."""
        return self.total_tokens or self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=(self.cache_write_1h or 0) + (other.cache_write_1h or 0) or None,
            reasoning=(self.reasoning or 0) + (other.reasoning or 0) or None,
            total_tokens=self.used + other.used,
            cost=self.cost + other.cost,
        )


class UserMessage(Wire):
    """What a person said."""

    role: Literal["user"] = "user"
    content: Content = Field(default_factory=list)
    timestamp: int = Field(default_factory=now_ms)


class AssistantMessage(Wire):
    """One answer of a model."""

    role: Literal["assistant"] = "assistant"
    content: Blocks = Field(default_factory=list)
    api: str = ""
    provider: str = ""
    model: str = ""
    response_model: str | None = None
    response_id: str | None = None
    thinking_level: str | None = None
    usage: Usage = Field(default_factory=Usage)
    stop_reason: str = "stop"
    error_message: str | None = None
    raw_stop_reason: str | None = None
    timestamp: int = Field(default_factory=now_ms)

    @property
    def failed(self) -> bool:
        """Whether an error or an abort cut it off: kept, and never sent to a model."""
        return self.stop_reason in ("error", "aborted")

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls, in source order."""
        return [b for b in self.content if isinstance(b, ToolCall)]


class ToolResultMessage(Wire):
    """What a tool answered."""

    role: Literal["toolResult"] = "toolResult"
    tool_call_id: str
    tool_name: str = ""
    content: Content = Field(default_factory=list)
    details: JsonValue = None
    is_error: bool = False
    timestamp: int = Field(default_factory=now_ms)


class SystemMessage(Wire):
    """A prompt that pi stored: history for the X-ray, never sent by us."""

    role: Literal["system"] = "system"
    content: Content = ""
    sections: dict[str, str | None] | None = None
    timestamp: int = Field(default_factory=now_ms)


class BashExecutionMessage(Wire):
    """A command the user ran; in the context unless excluded."""

    role: Literal["bashExecution"] = "bashExecution"
    command: str
    output: str = ""
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool | None = None
    timestamp: int = Field(default_factory=now_ms)


class CustomMessage(Wire):
    """A message of an extension; the model sees it as the user's."""

    role: Literal["custom"] = "custom"
    custom_type: str
    content: Content = Field(default_factory=list)
    display: bool = True
    details: JsonValue = None
    timestamp: int = Field(default_factory=now_ms)


class CompactionSummaryMessage(Wire):
    """Made from a compaction entry when the context is projected; never stored."""

    role: Literal["compactionSummary"] = "compactionSummary"
    summary: str
    tokens_before: int = 0
    timestamp: int = Field(default_factory=now_ms)


class BranchSummaryMessage(Wire):
    """Made from a branch_summary entry when the context is projected; never stored."""

    role: Literal["branchSummary"] = "branchSummary"
    summary: str
    from_id: str = "root"
    timestamp: int = Field(default_factory=now_ms)


class UnknownMessage(Wire):
    """A role we do not know: kept, never sent."""

    role: str = ""
    timestamp: int = Field(default_factory=now_ms)


Message = UserMessage | AssistantMessage | ToolResultMessage

_ROLES = {
    "user",
    "assistant",
    "toolResult",
    "system",
    "bashExecution",
    "custom",
    "compactionSummary",
    "branchSummary",
}


def _role_tag(value: object) -> str:
    role = value.get("role") if isinstance(value, dict) else getattr(value, "role", None)
    return role if isinstance(role, str) and role in _ROLES else "unknown"


AgentMessage = Annotated[
    Annotated[UserMessage, Tag("user")]
    | Annotated[AssistantMessage, Tag("assistant")]
    | Annotated[ToolResultMessage, Tag("toolResult")]
    | Annotated[SystemMessage, Tag("system")]
    | Annotated[BashExecutionMessage, Tag("bashExecution")]
    | Annotated[CustomMessage, Tag("custom")]
    | Annotated[CompactionSummaryMessage, Tag("compactionSummary")]
    | Annotated[BranchSummaryMessage, Tag("branchSummary")]
    | Annotated[UnknownMessage, Tag("unknown")],
    Discriminator(_role_tag),
]

AGENT_MESSAGE: TypeAdapter[AgentMessage] = TypeAdapter(
    AgentMessage, config=ConfigDict(defer_build=True)
)


def text_of(content: str | Sequence[Block]) -> str:
    """The text blocks joined by newlines; a string as it is."""
    if isinstance(content, str):
        return content
    return "\n".join(b.text for b in content if isinstance(b, Text))


def own_words(content: str | Sequence[Block]) -> str:
    """What the person wrote of a message: what comes back to be written anew."""
    if isinstance(content, str):
        return content
    return text_of([b for b in content if not (isinstance(b, Text) and b.context)])


def utf16_units(text: str) -> int:
    """Length in UTF-16 units: the measure of token estimates and cuts (vectors, rule 1)."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_head(text: str, units: int) -> str:
    """The beginning of a text in at most `units` UTF-16 units, whole characters only."""
    units = max(units, 0)
    text = text[:units]
    end, over = len(text), utf16_units(text) - units
    while over > 0:
        end -= 1
        over -= 2 if text[end] > "\uffff" else 1
    return text[:end]


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be stored and sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
