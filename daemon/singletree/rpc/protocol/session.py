"""Sessions: open one, come back to one, look at it, list them, fork them, wait for them.

A session is a tree of entries in one file; an entry travels as the record it is in that file.
Read next: state.py (how one stands), tree.py, events.py.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from singletree.rpc.protocol.base import (
    Empty,
    JsonObject,
    LongParams,
    Method,
    PageCursor,
    Params,
    Result,
    SessionParams,
    Shape,
    ShortLine,
)
from singletree.rpc.protocol.errors import ErrorInfo
from singletree.rpc.protocol.state import (
    Cursor,
    History,
    HistoryParams,
    InFlight,
    PendingRequest,
    Phase,
    Record,
    SessionState,
    ToolCallState,
    TurnReason,
)


class OpenParams(Params):
    """`workspace` (URI) or `cwd` (path), or the id of a session alone.

    `continue` takes the newest session of the folder, or a new one if there is none.
    """

    workspace: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    start: Literal["continue", "new"] = "continue"
    history: HistoryParams = Field(default_factory=lambda: HistoryParams())


class SwitchParams(SessionParams):
    """The session to make current: its id, or the path of its file. With both the path counts."""

    path: str | None = None
    history: HistoryParams = Field(default_factory=lambda: HistoryParams())


class NewParams(Params):
    """`workspace` (URI) or `cwd` (path); with neither, the only open folder.

    `recover`: the path of a session file whose header cannot be read. The new session begins with
    what can still be read of it; the file stays as it is.
    """

    workspace: str | None = None
    cwd: str | None = None
    name: str | None = None
    recover: str | None = None


class Attached(Result):
    """A session as it is now. The caller hears its events from `cursor` on.

    `tools`: the calls that have no answer yet.
    """

    session_id: str
    mode: Literal["snapshot"] = "snapshot"
    state: SessionState
    history: History
    in_flight: list[InFlight]
    tools: list[ToolCallState]
    pending: list[PendingRequest]
    cursor: Cursor


class EventParams(Params):
    """The envelope of an event. `seq` grows by one; `ts` is milliseconds since the epoch."""

    session_id: str
    epoch: str
    seq: int
    ts: int
    event: Annotated[JsonObject, WithJsonSchema({"type": "object", "x-named": "SessionEvent"})]


class AttachResult(Result):
    """`mode` tells which of the two it is: `replay` has `events`, `snapshot` the rest."""

    session_id: str
    mode: Literal["replay", "snapshot"]
    events: list[EventParams] | None = None
    state: SessionState | None = None
    history: History | None = None
    in_flight: list[InFlight] = Field(default_factory=list)
    tools: list[ToolCallState] = Field(default_factory=list)
    pending: list[PendingRequest] = Field(default_factory=list)
    cursor: Cursor


class AttachParams(SessionParams):
    """`since` is the cursor of the last event that was handled."""

    since: Cursor | None = None
    history: HistoryParams = Field(default_factory=lambda: HistoryParams())


class EntriesParams(SessionParams):
    """A page: after `since`, or before `before`, or the newest. `all` means every branch."""

    since: str | None = None
    before: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    branch: Literal["active", "all"] = "active"


class Entries(Result):
    """Records, oldest first. `next`: the id to go on with in the same direction."""

    entries: list[Record]
    leaf_id: str | None
    next: str | None


class ListParams(Params):
    """Sessions of a folder, or of all; `query` looks in names and in what was said."""

    workspace: str | None = None
    query: str | None = None
    limit: int = Field(default=50, ge=1, le=500)
    cursor: PageCursor | None = None


class SessionRow(Shape):
    """A session in a list. `preview` is the first prompt, `leafPreview` the last thing said.

    Where both are empty nothing was said yet, and `path` is where the file will be.

    Times are ISO 8601. `live`: open in this daemon. `parent`: the file it was forked from. `moved`:
    its folder is gone, so it is offered in every other; open it with the folder where that is now.
    """

    session_id: str
    path: str
    cwd: str
    name: str | None
    preview: str
    leaf_preview: str | None = None
    created_at: str
    updated_at: str
    entry_count: int | None = None
    parent: str | None = None
    live: bool = False
    moved: bool = False


class SessionList(Result):
    """Newest first. `next` is the `cursor` of the following page."""

    sessions: list[SessionRow]
    next: str | None


class RenameParams(SessionParams):
    """An empty name takes it away."""

    name: ShortLine


class SessionName(Result):
    """The name as it is now."""

    name: str | None


class DeleteParams(Params):
    """Only a session that is not open can be deleted."""

    session_id: str


class ExportParams(SessionParams):
    """The session need not be open. Without a `path` the text comes back, if it fits a message.

    `jsonl` and `md` hold the active branch, `html` all branches. A `path` that is no whole one is
    meant from the session's folder; a file that is there stays, unless `replace` is true.
    """

    format: Literal["jsonl", "md", "html"]
    path: str | None = None
    replace: bool = False


class Exported(Result):
    """Where it is, or what it is."""

    path: str | None = None
    text: str | None = None


class ForkParams(SessionParams):
    """`before` leaves the entry out (a user's message comes back as text), `at` keeps it."""

    entry_id: str
    position: Literal["before", "at"] = "before"
    workspace: str | None = None
    name: str | None = None


class Forked(Result):
    """The new session, open and current. `path` is null until something is said in it."""

    session_id: str
    editor_text: str | None = None
    path: str | None


class WaitParams(LongParams):
    """`idle`: no turn runs. `settled`: nothing automatic remains, either."""

    until: Literal["idle", "settled"] = Field(default="settled", alias="for")


class LastTurn(Shape):
    """How the last turn ended."""

    turn_id: str
    reason: TurnReason
    error: ErrorInfo | None = None


class Waited(Result):
    """What the session does now, and how its last turn ended."""

    phase: Phase
    last_turn: LastTurn | None


_OPEN = (
    "session_not_found",
    "workspace_not_found",
    "no_workspace",
    "locked",
    "session_unreadable",
)

METHODS = (
    Method(
        "agent/session/open",
        OpenParams,
        Attached,
        "Open the session of a folder and hear its events: the usual first request. Never fails "
        "for want of trust; the state tells what was skipped.",
        errors=_OPEN,
    ),
    Method(
        "agent/session/attach",
        AttachParams,
        AttachResult,
        "Come back to a session that is open: what was missed since a cursor, or a snapshot when "
        "the daemon no longer remembers that far.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/session/detach",
        SessionParams,
        Empty,
        "Hear no more of a session; it goes on.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/session/state",
        SessionParams,
        SessionState,
        "The session as it is now.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/session/entries",
        EntriesParams,
        Entries,
        "Entries by the page, as they are in the file.",
        errors=("session_not_found", "entry_not_found"),
    ),
    Method(
        "agent/session/list",
        ListParams,
        SessionList,
        "The sessions of a folder, newest first.",
    ),
    Method(
        "agent/session/new",
        NewParams,
        Attached,
        "A new session, current from now on. It has no file until something is said. With "
        "`recover` it is a copy of what can be read of a damaged file.",
        errors=(
            "workspace_not_found",
            "no_workspace",
            "session_not_found",
            "session_error",
            "cancelled_by_extension",
        ),
    ),
    Method(
        "agent/session/switch",
        SwitchParams,
        Attached,
        "Make another session the current one of its folder, and hear its events.",
        errors=(*_OPEN, "cancelled_by_extension"),
    ),
    Method(
        "agent/session/rename",
        RenameParams,
        SessionName,
        "Give the session a name.",
        errors=("session_not_found", "session_read_only"),
    ),
    Method(
        "agent/session/close",
        SessionParams,
        Empty,
        "Let go of the session: its run ends, its lock is released.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/session/delete",
        DeleteParams,
        Empty,
        "Delete the file of a session that is not open.",
        errors=("session_not_found", "session_busy", "locked"),
    ),
    Method(
        "agent/session/export",
        ExportParams,
        Exported,
        "The session as JSON lines that pi opens too, as Markdown, or as one HTML page.",
        errors=("session_not_found", "session_error", "unsupported"),
    ),
    Method(
        "agent/session/fork",
        ForkParams,
        Forked,
        "A new session that begins with the path up to an entry; at the leaf, `at`, it is a clone.",
        errors=(
            "session_not_found",
            "entry_not_found",
            "not_a_user_message",
            "cancelled_by_extension",
        ),
    ),
    Method(
        "agent/session/wait",
        WaitParams,
        Waited,
        "Answered when the session is idle or settled. May take as long as a turn does.",
        errors=("session_not_found",),
    ),
)
