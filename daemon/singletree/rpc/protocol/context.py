"""What the model sees and why; and the contents behind `agent://` addresses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import (
    JsonObject,
    Method,
    PageCursor,
    Params,
    Result,
    SessionParams,
    Shape,
)
from singletree.rpc.protocol.turn import ThinkingLevel

ContextInclude = Literal["messages", "texts"]


class ContextParams(SessionParams):
    """At which entry: the leaf, unless said. `cursor` is the `next` of the page before.

    `include`: `messages` puts into each part the message as the model gets it, `texts` the sections
    of the system prompt and the declarations of the tools.
    """

    entry_id: str | None = None
    include: list[ContextInclude] = Field(default_factory=list)
    limit: int = Field(default=500, ge=1, le=5000)
    cursor: PageCursor | None = None


class ContextPart(Shape):
    """A part of what the model sees, or of what it does not see, with the rule that left it out.

    `kind`: a role, `section:` or `tool:` with a name, `correction` (what a provider measured minus
    what was estimated), `branches` (all other branches together), or the type of an entry that
    never speaks to a model. `tokens` are estimated; of what is left out, what it would have cost.
    """

    kind: str
    tokens: int
    entry_id: str | None = None
    preview: str = ""
    left_out: str | None = None
    message: JsonObject | None = None
    text: str | None = None


class LeftOut(Shape):
    """How many parts a rule leaves out."""

    rule: str
    count: int


class ContextBudget(Shape):
    """Tokens: the model's window, what is held free in it, and above what it is compacted.

    `automatic` false: nothing is compacted by itself.
    """

    window: int
    reserve: int
    compacts_above: int
    automatic: bool


class ContextResult(Result):
    """A page of parts: first all that is seen, in order, then what is left out.

    `tokens` is the figure that is compared with the budget: the sum of all parts that are seen.
    `measured`: as many of them a provider has counted; null where everything is estimated.
    """

    entry_id: str | None
    tree_version: int
    model: str | None
    thinking: ThinkingLevel
    tokens: int
    measured: int | None
    budget: ContextBudget | None
    seen: int
    left_out: list[LeftOut]
    parts: list[ContextPart]
    next: str | None


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
    ),
    Method(
        "agent/content/read",
        ContentReadParams,
        ContentReadResult,
        "A text of a session by the piece: what was cut in an event or a result, or what an editor "
        "shows (the transcript, the tree, an entry, a diff).",
        errors=("session_not_found", "not_found"),
    ),
)
