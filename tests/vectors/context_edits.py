"""What pi lets a program alter in the context, and by what: our product hides failed answers alone.

Here so that what such entries do to a projection is measured with those that pi would write.
"""

from __future__ import annotations

from pydantic import JsonValue

from singletree.errors import SessionError
from singletree.history.entries import (
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from singletree.history.record import History


def edited(history: History, entry_id: str, replacement: JsonValue) -> Entry:
    """Alter what an entry on the path gives to the context: null hides it, {content} swaps."""
    _check(replacement)
    tree = history.tree
    if tree.row(entry_id) not in set(tree.up(tree.leaf_row)):
        raise _refused("not_on_branch")
    return history.append(_edit_of(history.entry(entry_id), replacement))


def _check(replacement: JsonValue) -> None:
    if replacement is None:
        return
    content = replacement.get("content") if isinstance(replacement, dict) else None
    if not isinstance(content, str | list):
        raise _refused("bad_replacement")


def _edit_of(entry: Entry, replacement: JsonValue) -> ContextEditEntry:
    """Answers and results have blocks, so a text becomes one."""
    role = entry.message.role if isinstance(entry, MessageEntry) else None
    known = role in ("user", "assistant", "toolResult", "custom")
    if not known and not isinstance(entry, CustomMessageEntry):
        raise _refused("not_editable")
    content = replacement.get("content") if isinstance(replacement, dict) else None
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        replacement = {"content": [{"type": "text", "text": content}]}
    return ContextEditEntry(target_id=entry.id, replacement=replacement)


def _refused(reason: str) -> SessionError:
    return SessionError(reason, detail={"reason": reason})
