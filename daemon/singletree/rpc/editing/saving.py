"""What follows an edit in a buffer: it is saved if it was clean, and the model hears what is so.

A buffer that had unsaved text before is never saved by us. Never edits. Read next: files.py.
"""

from __future__ import annotations

from typing import Final

import anyio
from anyio import to_thread

from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.buffers.documents import differs_from_disk
from singletree.rpc.editing.applying import can
from singletree.rpc.editing.buffers import Opened
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.editor import EditorSaveResult

SAVE_SECONDS: Final = 10.0

WAS_UNSAVED = (
    "[The file has unsaved changes in the editor. The edit was made there and nothing was saved: "
    "commands still see the file as last saved.]"
)
NOT_SAVED = (
    "[The edit was made in the editor, where the file is open, and is not saved yet: commands "
    "still see the old text.]"
)
NOT_SAVED_BECAUSE = (
    "[The edit was made in the editor, but the file could not be saved ({reason}): commands still "
    "see the old text.]"
)
CHANGED_BY_SAVING = (
    "[Saving changed the text further, as a formatter does: read the file before you edit it "
    "again.]"
)
NO_REASON = "no reason was given"
NOT_THERE = "the disk has another text"


async def after_edit(opened: Opened) -> str:
    """Save where that may be and can be; the note for the model."""
    if opened.document.path is None or opened.dirty:
        return WAS_UNSAVED
    if not can(opened.peer, "save"):
        return NOT_SAVED
    document = opened.document
    meant, revision = document.text.copy(), document.revision
    reason = await save(opened.peer, opened.document.uri)
    if not await to_thread.run_sync(differs_from_disk, document.path, meant):
        if document.revision == revision:
            document.saved()
        return ""
    if reason is None and not await document.dirty():
        return CHANGED_BY_SAVING
    return NOT_SAVED_BECAUSE.format(reason=reason or NOT_THERE)


async def save(peer: Peer, uri: str) -> str | None:
    """Why it was not saved, None if it was."""
    try:
        with anyio.fail_after(SAVE_SECONDS):
            told = await peer.call("agent/editor/save", {"uris": [uri]}, EditorSaveResult)
    except (ClientGone, ClientError) as error:
        return str(error) or NO_REASON
    except TimeoutError:
        return NO_REASON
    failed = next((one.message for one in told.failed if one.uri == uri), None)
    return failed if failed is not None or uri in told.saved else NO_REASON
