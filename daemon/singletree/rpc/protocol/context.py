"""What the model sees and why; and the contents behind `agent://` addresses."""

from __future__ import annotations

from typing import Literal

from singletree.rpc.protocol.base import JsonObject, Method, Result, SessionParams, Shape

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
    """A slice in bytes, from `start` up to, not including, `end`."""

    start: int
    end: int


class ContentReadParams(SessionParams):
    """An `agent://` address as it was given in an event or a result."""

    uri: str
    range: ByteRange | None = None


class ContentReadResult(Result):
    """Text where it is text, else base64. `size` is that of the whole."""

    text: str | None = None
    blob: str | None = None
    size: int


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
        "The content behind an `agent://` address, whole or a slice of it.",
        errors=("not_found",),
        since=None,
    ),
)
