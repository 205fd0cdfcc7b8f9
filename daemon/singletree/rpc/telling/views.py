"""Values of the session -> shapes of the protocol, for answers. Pure.

Never awaits, never knows a client. Read next: wire.py (the same for events).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from singletree.history.entries import Entry
from singletree.history.outline import Row
from singletree.history.record import EntryPage
from singletree.history.store import Summary
from singletree.messages import Usage
from singletree.model.catalog import ModelListing
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.errors import ErrorInfo
from singletree.rpc.protocol.model import ModelPrice, ModelRow
from singletree.rpc.protocol.queue import Queue, QueueItem
from singletree.rpc.protocol.session import SessionRow
from singletree.rpc.protocol.state import (
    Counts,
    Notice,
    SessionState,
    Skipped,
)
from singletree.rpc.protocol.tree import TreeRow
from singletree.rpc.protocol.usage import ContextUsage
from singletree.rpc.protocol.usage import Usage as UsageShape
from singletree.rpc.telling import bounds, failures, wire
from singletree.session import events
from singletree.session.session import AgentSession
from singletree.session.state import ContextUse
from singletree.session.state import SessionState as State

PAGE_BYTES = 524_288
"""What the entries of one answer may take together; an entry that is larger comes alone."""
ROW_BYTES = 400
"""A row of the tree without its preview and label, at most."""


def state(session: AgentSession, pending: Sequence[str]) -> SessionState:
    """The session as it is now; `pending`: ids of open questions."""
    now = session.state()
    return SessionState(
        session_id=now.session_id,
        cwd=str(now.cwd),
        path=None if now.path is None else str(now.path),
        name=now.name,
        phase=now.phase,
        turn_id=now.turn_id,
        model=now.model,
        images=now.images,
        thinking=now.thinking,
        tools=list(now.tools),
        mode=now.mode,
        queue=Queue(items=queue_items(now.queue), version=now.queue_version),
        leaf_id=now.leaf_id,
        tree_version=now.tree_version,
        context_usage=context_usage(now.context),
        counts=Counts(entries=now.entry_count, messages=now.message_count),
        pending=list(pending),
        trusted=now.trusted,
        skipped=skipped(now),
        read_only=now.read_only,
        warnings=[Notice(code=code, message=message) for code, message in now.notices],
    )


def skipped(now: State) -> list[Skipped]:
    """What an untrusted workspace brings along."""
    return [Skipped(kind=kind, path=path) for kind, path in now.skipped]


def queue_items(items: Iterable[events.QueueItem]) -> list[QueueItem]:
    """What waits."""
    return [QueueItem.model_validate(wire.queue_item(item)) for item in items]


def records(session: AgentSession, entries: Iterable[Entry]) -> list[JsonObject]:
    """Entries as the file has them, large ones cut."""
    return [wire.record(entry, session.id)[0] for entry in entries]


def newest(session: AgentSession, page: EntryPage) -> tuple[list[JsonObject], str | None]:
    """The last records of a page that fit one message; and `before` what the ones before are."""
    rows = records(session, page.entries)
    kept = list(bounds.page(reversed(rows), PAGE_BYTES))[::-1]
    return kept, page.previous if len(kept) == len(rows) else str(kept[0]["id"])


def oldest(session: AgentSession, page: EntryPage) -> tuple[list[JsonObject], str | None]:
    """The first records of a page that fit one message; and `since` which the next ones are."""
    rows = records(session, page.entries)
    kept = list(bounds.page(rows, PAGE_BYTES))
    return kept, page.next if len(kept) == len(rows) else str(kept[-1]["id"])


def rows_that_fit(rows: Sequence[Row]) -> int:
    """How many rows of the tree fit one message; one at least."""
    room = PAGE_BYTES
    for count, row in enumerate(rows):
        room -= ROW_BYTES + 3 * (len(row.preview) + len(row.label or ""))
        if room < 0:
            return max(1, count)
    return len(rows)


def tree_row(row: Row) -> TreeRow:
    """A line of the drawn tree."""
    return TreeRow(
        entry_id=row.entry_id,
        type=row.type,
        role=row.role,
        timestamp=row.timestamp,
        depth=row.depth,
        parent_id=row.parent_id,
        on_path=row.on_path,
        is_leaf=row.is_leaf,
        label=row.label,
        preview=row.preview,
        child_count=row.child_count,
    )


def session_row(one: Summary, *, live: bool) -> SessionRow:
    """A session in a list."""
    return SessionRow(
        session_id=one.id,
        path=str(one.path),
        cwd=one.cwd,
        name=one.name,
        preview=one.preview,
        leaf_preview=one.leaf_preview,
        created_at=iso(one.created_at),
        updated_at=iso(one.updated_at),
        entry_count=one.entry_count,
        parent=one.parent,
        live=live,
        moved=one.moved,
    )


def model_row(one: ModelListing) -> ModelRow:
    """A model in the list."""
    info = one.info
    return ModelRow(
        model=info.ref,
        provider=info.provider,
        id=info.id,
        name=info.name or info.id,
        context_window=info.context_window,
        max_output=info.max_output,
        reasoning=info.reasoning,
        images=info.images,
        levels=list(info.levels),
        cost=ModelPrice(
            input=info.price.input,
            output=info.price.output,
            cache_read=info.price.cache_read,
            cache_write=info.price.cache_write,
        ),
        auth="configured" if one.available else "missing",
    )


def usable(models: Iterable[ModelListing]) -> list[ModelRow]:
    """Those that can answer now."""
    return [model_row(one) for one in models if one.available]


def context_usage(use: ContextUse) -> ContextUsage:
    """How full the window is."""
    return ContextUsage(tokens=use.tokens, window=use.window, percent=use.percent)


def usage(used: Usage) -> UsageShape:
    """Tokens and cost; the shape is that of the file."""
    return UsageShape.model_validate(used.dump())


def error_shape(error: events.ErrorInfo) -> ErrorInfo:
    """An error inside an answer."""
    return ErrorInfo.model_validate(failures.error_info(error))


def iso(ms: int) -> str:
    """Milliseconds since the epoch as ISO 8601."""
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
