"""What happened in a session -> what travels: entries, queue items, single events. Pure, stateless.

Which parts of an answer are open is for translate.py to know. Never awaits, never knows a client.
Read next: toolcalls.py, translate.py, ../protocol/events.py (the shapes made here).
"""

from __future__ import annotations

from typing import assert_never

from pydantic import JsonValue
from pydantic_core import from_json

from singletree.history.entries import Entry, dump
from singletree.rpc.addresses import Address
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.telling.bounds import VALUE_BYTES, bounded
from singletree.rpc.telling.failures import error_info
from singletree.session.events import (
    CommandsChanged,
    CompactionEnded,
    CompactionResult,
    CompactionStarted,
    ConfigChanged,
    EditsChanged,
    EntryAppended,
    ExtensionFailed,
    LeafMoved,
    PermissionChanged,
    PhaseChanged,
    QueueChanged,
    QueueItem,
    RetryChanged,
    Settled,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    Warned,
)
from singletree.session.state import ContextUse

Working = PhaseChanged | TurnStarted | TurnEnded | Settled | RetryChanged
Remembering = LeafMoved | CompactionStarted | CompactionEnded | EditsChanged
Changing = (
    QueueChanged
    | UsageChanged
    | ConfigChanged
    | CommandsChanged
    | PermissionChanged
    | Warned
    | ExtensionFailed
)
Told = Working | Remembering | Changing | EntryAppended
"""What happens at one moment and becomes one event."""


def tell(event: Told, session_id: str) -> JsonObject:
    """The one event that tells it."""
    match event:
        case EntryAppended(entry):
            shown, cut = record(entry, session_id)
            made: JsonObject = {"type": "entry", "entry": shown}
            return {**made, "cut": cut} if cut else made
        case PhaseChanged() | TurnStarted() | TurnEnded() | Settled() | RetryChanged():
            return _working(event)
        case LeafMoved() | CompactionStarted() | CompactionEnded() | EditsChanged():
            return _remembering(event)
        case QueueChanged() | UsageChanged() | ConfigChanged() | CommandsChanged():
            return _changing(event, session_id)
        case PermissionChanged() | Warned() | ExtensionFailed():
            return _changing(event, session_id)
    assert_never(event)


def record(entry: Entry, session_id: str) -> tuple[JsonObject, str | None]:
    """The entry as the file has it; cut if it is large, and then the address of the whole."""
    line = dump(entry)
    value: JsonObject = from_json(line)
    if len(line) <= VALUE_BYTES:
        return value, None
    shown, cut = bounded(value, Address(session_id, "entry", entry.id))
    return (shown if isinstance(shown, dict) else _head(value)), cut


def queue_item(item: QueueItem) -> JsonObject:
    """A text that waits."""
    made: JsonObject = {
        "queueId": item.queue_id,
        "kind": item.kind,
        "content": [dict(block) for block in item.content],
        "paused": item.paused,
    }
    if item.client_message_id is not None:
        made["clientMessageId"] = item.client_message_id
    return made


def compacted(done: CompactionResult) -> JsonObject:
    """What a compaction made."""
    return {
        "entryId": done.entry_id,
        "summary": done.summary,
        "firstKeptEntryId": done.first_kept_entry_id,
        "tokensBefore": done.tokens_before,
        "tokensAfterEstimate": done.tokens_after,
        "usage": done.usage.dump(),
        "details": {
            "readFiles": list(done.read_files),
            "modifiedFiles": list(done.modified_files),
        },
    }


def _working(event: Working) -> JsonObject:
    match event:
        case PhaseChanged(phase, turn_id):
            return {"type": "state", "phase": phase, "turnId": turn_id}
        case TurnStarted(turn_id, cause):
            return {"type": "turn_started", "turnId": turn_id, "cause": cause}
        case TurnEnded():
            return _turn_ended(event)
        case Settled():
            return {"type": "settled"}
        case RetryChanged():
            return _retry(event)
    assert_never(event)


def _remembering(event: Remembering) -> JsonObject:
    match event:
        case LeafMoved(leaf_id, version, cause):
            return {"type": "leaf", "leafId": leaf_id, "treeVersion": version, "cause": cause}
        case CompactionStarted(id, reason):
            return {"type": "compaction", "id": id, "status": "started", "reason": reason}
        case CompactionEnded():
            return _compaction_ended(event)
        case EditsChanged(turn_id, edit_ids):
            return {"type": "edits", "turnId": turn_id, "editIds": list(edit_ids)}
    assert_never(event)


def _changing(event: Changing, session_id: str) -> JsonObject:
    match event:
        case QueueChanged():
            return _queue(event, session_id)
        case UsageChanged():
            return _usage(event)
        case ConfigChanged():
            return {
                "type": "config",
                "model": event.model,
                "images": event.images,
                "thinking": event.thinking,
                "name": event.name,
                "tools": list(event.tools),
                "mode": event.mode,
                "trusted": event.trusted,
                "skipped": [{"kind": kind, "path": path} for kind, path in event.skipped],
            }
        case CommandsChanged():
            return {"type": "commands"}
        case PermissionChanged(request_id, status, by):
            made: JsonObject = {"type": "permission", "requestId": request_id, "status": status}
            return made | {"by": by} if by else made
        case Warned(code, message):
            return {"type": "warning", "code": code, "message": message}
        case ExtensionFailed(extension, hook, message):
            return {
                "type": "extension_error",
                "extension": extension,
                "event": hook,
                "message": message,
            }
    assert_never(event)


def _queue(event: QueueChanged, session_id: str) -> JsonObject:
    """The event `queue`: every item is there, a long text in it is cut."""
    room = VALUE_BYTES // max(1, len(event.items))
    rows: list[JsonValue] = []
    for item in event.items:
        row = queue_item(item)
        address = Address(session_id, "queue", item.queue_id)
        row["content"], _ = bounded(row["content"], address, room)
        rows.append(row)
    return {"type": "queue", "items": rows, "version": event.version}


def _usage(event: UsageChanged) -> JsonObject:
    """The event `usage`."""
    use = ContextUse(event.context_tokens, event.context_window)
    window: JsonObject = {"tokens": use.tokens, "window": use.window, "percent": use.percent}
    made: JsonObject = {"type": "usage", "contextUsage": window}
    if event.last is not None:
        made["last"] = event.last.dump()
    return made


def _compaction_ended(event: CompactionEnded) -> JsonObject:
    """The event `compaction` that tells the end of one."""
    made: JsonObject = {
        "type": "compaction",
        "id": event.id,
        "status": event.status,
        "reason": event.reason,
    }
    if event.result is not None:
        made["result"] = compacted(event.result)
    if event.error is not None:
        made["error"] = error_info(event.error)
    return made


def _turn_ended(event: TurnEnded) -> JsonObject:
    made: JsonObject = {
        "type": "turn_ended",
        "turnId": event.turn_id,
        "reason": event.reason,
        "usage": event.usage.dump(),
    }
    if event.error is not None:
        made["error"] = error_info(event.error)
    return made


def _retry(event: RetryChanged) -> JsonObject:
    made: JsonObject = {
        "type": "retry",
        "attempt": event.attempt,
        "max": event.max_attempts,
        "delayMs": event.delay_ms,
        "status": event.status,
    }
    if event.error is not None:
        made["error"] = error_info(event.error)
    return made


def _head(value: JsonObject) -> JsonObject:
    return {key: value.get(key) for key in ("type", "id", "parentId", "timestamp")}
