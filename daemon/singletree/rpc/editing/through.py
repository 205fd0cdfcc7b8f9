"""A file that is not open, changed or made through the editor: for clients that want all edits.

The proof is the disk, once the editor has saved. Only where the client can save, and make files;
anything else is written on the disk by us. Read next: files.py, applying.py (files that are open).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from anyio import to_thread
from pydantic import JsonValue

from singletree.rpc.buffers.changes import smallest
from singletree.rpc.buffers.documents import uri_of
from singletree.rpc.buffers.text import Text
from singletree.rpc.editing.applying import (
    GONE,
    NO_ANSWER,
    Outcome,
    ask_to_apply,
    can,
    can_edit,
    edits_of,
    workspace_edit,
)
from singletree.rpc.editing.saving import save
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer
from singletree.session.edits.edit import plain

NOT_SAVED = "the editor made it, but it did not save it ({why})"
OTHER = "the file is now neither the old one nor the new one"

Read = Callable[[], Awaitable[bytes | None]]


def wanting_all(peers: Sequence[Peer], *, new: bool) -> Peer | None:
    """The client through which a file that is not open is changed, or made if it is new."""
    for peer in peers:
        able = workspace_edit(peer)
        operations = able.get("resourceOperations")
        makes = isinstance(operations, list) and "create" in operations
        wants = part(peer.client.agent, "editor").get("applyEdit") == "all"
        whole = can_edit(peer) and can(peer, "save") and able.get("documentChanges") is True
        if wants and whole and (makes or not new):
            return peer
    return None


async def write_through(
    peer: Peer, path: Path, before: bytes | None, data: bytes, label: str, read: Read
) -> Outcome | None:
    """Have it changed and saved; `read` gives what the disk then holds. None: it is no text."""
    texts = _texts(before or b"", data)
    if texts is None:
        return None
    uri, (old, new) = uri_of(path), texts
    hunks = await to_thread.run_sync(smallest, old, new)
    edits = edits_of(Text(old), hunks, peer.documents.encoding)
    changes: list[JsonValue] = [{"textDocument": {"uri": uri, "version": None}, "edits": edits}]
    if before is None:
        changes.insert(0, {"kind": "create", "uri": uri, "options": {"ignoreIfExists": True}})
    refusal = await ask_to_apply(peer, {"label": label, "edit": {"documentChanges": changes}})
    unsaved = await save(peer, uri) if refusal is None else None
    now = await read()
    if now is not None and plain(now) == plain(data):
        return Outcome("landed")
    if unsaved:
        return Outcome("unproven", NOT_SAVED.format(why=unsaved))
    if refusal in (GONE, NO_ANSWER):
        return Outcome("unproven", refusal)
    return Outcome("refused", refusal) if refusal and now == before else Outcome("unproven", OTHER)


def _texts(before: bytes, data: bytes) -> tuple[str, str] | None:
    """Both as an editor would show them; None where it might not."""
    if any(one.startswith(b"\xef\xbb\xbf") or b"\0" in one for one in (before, data)):
        return None
    try:
        return before.decode(), data.decode()
    except UnicodeDecodeError:
        return None
