"""What may be altered in the context by a context edit, and by what.

Never changes an entry: an edit is one more entry. Read next: record.py (which writes it).
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


def check_replacement(replacement: JsonValue) -> None:
    """A replacement is null, which hides, or an object with a text or blocks as content."""
    if replacement is None:
        return
    content = replacement.get("content") if isinstance(replacement, dict) else None
    blocks = isinstance(content, list) and all(isinstance(block, dict) for block in content)
    if not blocks and not isinstance(content, str):
        raise refused("bad_replacement", "A replacement is null or an object with content.")


def edit_of(entry: Entry, replacement: JsonValue) -> ContextEditEntry:
    """The entry that alters another one; answers and results have blocks, so a text becomes one."""
    role = entry.message.role if isinstance(entry, MessageEntry) else None
    known = role in ("user", "assistant", "toolResult", "custom")
    if not known and not isinstance(entry, CustomMessageEntry):
        raise refused("not_editable", f"Entry {entry.id} gives no message that can be edited.")
    content = replacement.get("content") if isinstance(replacement, dict) else None
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        replacement = {"content": [{"type": "text", "text": content}]}
    return ContextEditEntry(target_id=entry.id, replacement=replacement)


def refused(reason: str, message: str) -> SessionError:
    """The error of an edit that cannot be."""
    return SessionError(message, detail={"reason": reason})
