"""What the model sees and why; and the contents behind `agent://` addresses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import (
    JsonObject,
    Method,
    Params,
    Result,
    SessionParams,
    Shape,
)

ContextInclude = Literal["messages", "systemPrompt", "tools", "budget"]


class ContextParams(SessionParams):
    """At which entry (the leaf, unless said), and what: messages and budget, unless said."""

    entry_id: str | None = None
    include: list[ContextInclude] | None = None


class ContextPart(Shape):
    """A part of what the model sees, or of what it does not see, with the rule that left it out."""

    kind: str
    tokens: int
    entry_id: str | None = None
    preview: str = ""
    left_out: str | None = None


class ContextBudget(Shape):
    """Tokens: all that is seen, the window, what is held free."""

    tokens: int
    window: int
    reserve: int


class ContextResult(Result):
    """Every part with its source and size."""

    parts: list[ContextPart]
    messages: list[JsonObject] | None = None
    system_prompt: str | None = None
    tools: list[JsonObject] | None = None
    budget: ContextBudget | None = None


class ByteRange(Shape):
    """A slice in bytes of UTF-8, from `start` up to, not including, `end`."""

    start: int = Field(default=0, ge=0)
    end: int | None = Field(default=None, ge=0)


class ContentReadParams(Params):
    """An `agent://` address as it was given in an event or a result."""

    uri: str
    range: ByteRange | None = None


class ContentReadResult(Result):
    """A piece of the text, whole characters only. `size` is that of the whole, in bytes.

    `next` is the `start` of the following piece, null at the end.
    """

    text: str
    size: int
    next: int | None


METHODS = (
    Method(
        "agent/context/get",
        ContextParams,
        ContextResult,
        "What the model would see at an entry, part by part with its tokens, and by which rule "
        "the rest is left out.",
        errors=("session_not_found", "entry_not_found"),
        since=None,
    ),
    Method(
        "agent/content/read",
        ContentReadParams,
        ContentReadResult,
        "A text that was cut in an event or a result, by the piece.",
        errors=("session_not_found", "not_found"),
    ),
)
