"""What a client hears: events, which are the truth, and deltas, which are a preview of it.

An event is numbered, ordered, kept for replay and never dropped. A delta tells early what the next
event of its item will say; it may be merged with its neighbours or left out. Receivers ignore
types they do not know. Read next: ../telling/wire.py (where they are made).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, WithJsonSchema

from singletree.rpc.protocol.base import JsonObject, Method, Params, Shape
from singletree.rpc.protocol.compaction import Compacted
from singletree.rpc.protocol.errors import ErrorInfo
from singletree.rpc.protocol.queue import QueueItem
from singletree.rpc.protocol.session import EventParams
from singletree.rpc.protocol.state import (
    DeltaKind,
    PartKind,
    Phase,
    Record,
    Skipped,
    TurnReason,
)
from singletree.rpc.protocol.turn import ThinkingLevel
from singletree.rpc.protocol.usage import ContextUsage, Usage

ToolStatus = Literal[
    "streaming", "pending", "running", "completed", "failed", "cancelled", "rejected"
]
ToolKind = Literal["read", "edit", "execute", "search", "other"]
StoredBlock = Annotated[
    dict[str, JsonValue], WithJsonSchema({"type": "object", "x-named": "Block"})
]


class StateEvent(Shape):
    """What the session does now."""

    type: Literal["state"]
    phase: Phase
    turn_id: str | None


class TurnStartedEvent(Shape):
    """A turn has begun. `steer` only when a steering text began it."""

    type: Literal["turn_started"]
    turn_id: str
    cause: Literal["prompt", "followUp", "steer", "extension"]


class TurnEndedEvent(Shape):
    """Exactly one for each `turn_started`. `usage` sums the turn's answers."""

    type: Literal["turn_ended"]
    turn_id: str
    reason: TurnReason
    error: ErrorInfo | None = None
    usage: Usage


class SettledEvent(Shape):
    """Nothing automatic remains: no retry, no compaction, no follow-up."""

    type: Literal["settled"]


class EntryEvent(Shape):
    """An entry was added to the tree, as its record in the file.

    `cut`: long texts are shortened here to fit a message; the whole is at this address.
    """

    type: Literal["entry"]
    entry: Record
    cut: str | None = None


class LeafEvent(Shape):
    """The next entry will be a child of `leafId`; null: it will be a new root."""

    type: Literal["leaf"]
    leaf_id: str | None
    tree_version: int
    cause: Literal["append", "navigate", "label", "compact"]


class ItemStartedEvent(Shape):
    """Part `part` of the answer `itemId` begins to stream; `itemId` is the id of its entry to be.

    A part of kind `tool` is a call whose arguments stream.
    """

    type: Literal["item_started"]
    item_id: str
    kind: PartKind
    part: int
    tool_call_id: str | None = None
    name: str | None = None


class ItemEndedEvent(Shape):
    """The part is whole; `content` is what counts, whatever the deltas said.

    Null: the part was thrown away. `cut`: shortened to fit a message; the whole is at this address.
    """

    type: Literal["item_ended"]
    item_id: str
    kind: PartKind
    part: int
    content: StoredBlock | None
    cut: str | None = None


class FileLocation(Shape):
    """A file a tool works on; `line` counts from 0."""

    uri: str
    line: int | None = None


class ToolTruncation(Shape):
    """The output was longer than what the model was given. `shown` lines of `lines`."""

    lines: int | None = None
    bytes: int | None = None
    shown: int | None = None
    full_output_uri: str | None = None


class ToolResult(Shape):
    """What the tool answered. `details` is for people and programs, the model never sees it."""

    content: list[StoredBlock]
    details: JsonValue = None
    is_error: bool = False


class ToolEvent(Shape):
    """How a tool call stands: an update of what was told of `toolCallId` before.

    Absent: unchanged. null: cleared. A value: replaces. `requestId`: it waits for this question.
    `cut`: shortened to fit a message; the whole is at this address.
    """

    model_config = ConfigDict(json_schema_extra={"x-upsert": True})

    type: Literal["tool"]
    tool_call_id: str
    status: ToolStatus
    item_id: str | None = None
    part: int | None = None
    name: str | None = None
    kind: ToolKind | None = None
    title: str | None = None
    input: JsonObject | None = None
    locations: list[FileLocation] | None = None
    diff: str | None = None
    result: ToolResult | None = None
    truncation: ToolTruncation | None = None
    duration_ms: int | None = None
    request_id: str | None = None
    cut: str | None = None


class QueueEvent(Shape):
    """The whole queue as it is now."""

    type: Literal["queue"]
    items: list[QueueItem]
    version: int


class CompactionEvent(Shape):
    """A summary is being made, or has come to an end."""

    type: Literal["compaction"]
    id: str
    status: Literal["started", "completed", "failed", "cancelled"]
    reason: Literal["manual", "threshold", "overflow"]
    result: Compacted | None = None
    error: ErrorInfo | None = None


class RetryEvent(Shape):
    """A failed attempt is made again after `delayMs`, or that has come to an end."""

    type: Literal["retry"]
    attempt: int
    max: int
    delay_ms: int
    status: Literal["waiting", "retrying", "succeeded", "failed", "cancelled"]
    error: ErrorInfo | None = None


class UsageEvent(Shape):
    """How full the window is, and what the last answer took."""

    type: Literal["usage"]
    context_usage: ContextUsage
    last: Usage | None = None


class ConfigEvent(Shape):
    """Model, thinking level, name, tools, permission mode and trust as they are now.

    `images`: the model is shown pictures, not notes in their place.
    """

    type: Literal["config"]
    model: str | None
    images: bool
    thinking: ThinkingLevel
    name: str | None
    tools: list[str]
    mode: str
    trusted: bool = True
    skipped: list[Skipped] = Field(default_factory=list)


class CommandsEvent(Shape):
    """The slash commands are others now."""

    type: Literal["commands"]


class PermissionEvent(Shape):
    """A question was asked or is answered; `by` a client's id, `abort`, `timeout`, `policy`.

    A dialog is `answered` or `cancelled`, a question of permission `allowed` or `denied`.
    """

    type: Literal["permission"]
    request_id: str
    status: Literal["open", "allowed", "denied", "answered", "cancelled"]
    by: str | None = None


class EditsEvent(Shape):
    """The ledger of edits has changed."""

    type: Literal["edits"]
    turn_id: str
    edit_ids: list[str]


class WarningEvent(Shape):
    """Something a person should know; `code` is stable."""

    type: Literal["warning"]
    code: str
    message: str


class ExtensionErrorEvent(Shape):
    """An extension failed and the run went on."""

    type: Literal["extension_error"]
    extension: str
    event: str
    message: str


SessionEvent = Annotated[
    StateEvent
    | TurnStartedEvent
    | TurnEndedEvent
    | SettledEvent
    | EntryEvent
    | LeafEvent
    | ItemStartedEvent
    | ItemEndedEvent
    | ToolEvent
    | QueueEvent
    | CompactionEvent
    | RetryEvent
    | UsageEvent
    | ConfigEvent
    | CommandsEvent
    | PermissionEvent
    | EditsEvent
    | WarningEvent
    | ExtensionErrorEvent,
    Field(discriminator="type"),
]


class DeltaParams(Params):
    """More text of part `part` of `itemId`; for `toolOutput` the item is the tool call.

    `from..to` count the chunks of that part, half-open, from 0: where `from` is not the last `to`,
    something was left out, and `item_ended` will tell it. `after` is the last event before it.
    """

    session_id: str
    after: int
    item_id: str
    kind: DeltaKind
    part: int
    from_: int = Field(alias="from")
    to: int
    text: str


class SessionsChangedParams(Params):
    """`reason`: what happened to the list of sessions."""

    reason: Literal["created", "renamed", "deleted", "opened", "closed"]
    session_id: str | None = None


METHODS = (
    Method(
        "agent/event",
        EventParams,
        None,
        "Something happened. Numbered, ordered, never dropped.",
        direction="serverToClient",
    ),
    Method(
        "agent/delta",
        DeltaParams,
        None,
        "More text of something that streams. May be merged or left out.",
        direction="serverToClient",
    ),
    Method(
        "agent/sessions/changed",
        SessionsChangedParams,
        None,
        "The list of sessions is another one: ask `agent/session/list`.",
        direction="serverToClient",
    ),
)
