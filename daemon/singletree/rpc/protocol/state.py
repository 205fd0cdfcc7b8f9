"""A session as it stands: its state, a page of its history, what streams, what waits for an answer.

No methods of its own: sessions and events are told with these. Read next: session.py, events.py.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, WithJsonSchema

from singletree.rpc.protocol.base import JsonObject, Result, Shape
from singletree.rpc.protocol.queue import Queue
from singletree.rpc.protocol.turn import ThinkingLevel
from singletree.rpc.protocol.usage import ContextUsage

Phase = Literal["idle", "running", "requires_action", "compacting", "retrying"]
TurnReason = Literal["end_turn", "aborted", "error", "max_tokens", "max_turns", "refusal"]
PartKind = Literal["text", "thinking", "tool"]
DeltaKind = Literal["text", "thinking", "toolArgs", "toolOutput", "bashOutput", "summary"]

Record = Annotated[
    dict[str, JsonValue],
    WithJsonSchema({"type": "object", "x-named": "Entry"}),
]
"""An entry as the session file has it (version 3); the schema describes the kinds we know."""


ToolCallState = Annotated[JsonObject, WithJsonSchema({"type": "object", "x-named": "ToolEvent"})]
"""A `tool` event that says all that is known of a call."""


class Cursor(Shape):
    """A place in a session's stream of events.

    `epoch` is one life of the session in the daemon's memory. `entryId` (the last entry seen) is
    what to go by when that life is over.
    """

    epoch: str
    seq: int
    entry_id: str | None = None


class HistoryParams(Shape):
    """How much of the past to send along: the last `limit` entries of the path, before an entry."""

    limit: int = Field(default=100, ge=0, le=1000)
    before: str | None = None


class History(Shape):
    """A page of the active path, oldest first. `prevCursor`: `before` of the page before it."""

    entries: list[Record]
    leaf_id: str | None
    prev_cursor: str | None


class InFlight(Shape):
    """What streams at this moment: its text so far, and the `from` of its next delta (`to`).

    `name` and `toolCallId` go with the arguments and the output of a tool call. `skipped`: as many
    characters stand before `text` and are not sent again.
    """

    item_id: str
    kind: DeltaKind
    part: int
    to: int
    text: str
    name: str | None = None
    tool_call_id: str | None = None
    skipped: int | None = None


class PendingRequest(Shape):
    """A question that waits for an answer, as it was asked."""

    request_id: str
    method: str
    params: JsonObject


class Skipped(Shape):
    """Something of the workspace that is not used because the workspace is not trusted."""

    kind: str
    path: str


class Notice(Shape):
    """Something a person should know; `code` is stable."""

    code: str
    message: str


class Counts(Shape):
    """How long the session is: all entries, and the messages of the active path."""

    entries: int
    messages: int


class SessionState(Result):
    """Everything about a session but its entries.

    `model` is `provider/id`; null where none can be used. `images`: it is shown pictures, not notes
    in their place. `tools` are the active ones. `mode` is the permission mode. `path` is null until
    something was said. `pending` names the open questions. `treeVersion` grows with each change of
    the tree.
    """

    session_id: str
    cwd: str
    path: str | None
    name: str | None
    phase: Phase
    turn_id: str | None
    model: str | None
    images: bool
    thinking: ThinkingLevel
    tools: list[str]
    mode: str
    queue: Queue
    leaf_id: str | None
    tree_version: int
    context_usage: ContextUsage
    counts: Counts
    pending: list[str]
    trusted: bool
    skipped: list[Skipped] = Field(default_factory=list)
    read_only: bool = False
    warnings: list[Notice] = Field(default_factory=list)
