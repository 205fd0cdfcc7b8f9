"""A change of a file: made in its editor or on the disk, and in the ledger before it is made.

In an editor it is one step that can be undone there, and only the text that comes back proves it. A
buffer that was unsaved before is never saved by us. Never decides where a change is made. Read
next: applying.py (one edit and its proof), saving.py (what follows it), through.py (closed files).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from anyio import to_thread
from pydantic import JsonValue

from singletree.errors import ToolError
from singletree.rpc.buffers.documents import uri_of
from singletree.rpc.editing.applying import Outcome, apply
from singletree.rpc.editing.buffers import Opened
from singletree.rpc.editing.saving import after_edit
from singletree.rpc.editing.through import write_through
from singletree.rpc.peer import Peer
from singletree.session.edits.edit import Note
from singletree.session.edits.ledger import Ledger
from singletree.session.edits.revert import content
from singletree.tools.world import Files, Written

CHANGED = (
    "{path} was changed while this edit was on its way. Nothing was changed by it: read the file "
    "again and repeat the edit."
)
REFUSED = "The editor did not apply this edit of {path}: {reason}. Nothing was changed."
UNPROVEN = (
    "It is not certain what became of this edit of {path}: {reason}. Read the file before you go "
    "on."
)


@dataclass(frozen=True, slots=True)
class Change:
    """A file on its way from one content to another. `call_id`: the tool call's, "" for none."""

    path: Path
    name: str
    before: bytes | None
    data: bytes
    label: str
    call_id: str


class Writing:
    """Changes of one session. `read` gives a file as it now stands, an unsaved buffer first."""

    def __init__(
        self, ledger: Ledger, disk: Files, read: Callable[[Path], Awaitable[bytes]]
    ) -> None:
        self._ledger = ledger
        self._disk = disk
        self._read = read

    async def in_buffer(self, change: Change, opened: Opened, text: str) -> Written:
        """Make `text` of an open buffer; saved if it was clean."""
        document = opened.document
        if text == str(document.text):
            return Written("editor")
        async with self._noted(change, document.uri, "editor") as note:
            outcome = await apply(opened, text, change.label)
            if outcome.kind in ("refused", "stale"):
                note.dropped()
            check(outcome, change.name, change.data)
            note.landed(change.data)
            said = await after_edit(opened)
            note.landed(await self._read(change.path))
            return Written("editor", said)

    async def through(self, change: Change, peer: Peer) -> Written | None:
        """A file that is not open, through an editor that wants all edits."""
        path, data = change.path, change.data
        async with self._noted(change, uri_of(path), "editor") as note:
            read = partial(content, self._disk, path)
            outcome = await write_through(peer, path, change.before, data, change.label, read)
            if outcome is None or outcome.kind == "refused":
                note.dropped()
            if outcome is None:
                return None
            check(outcome, change.name, data)
            note.landed(await self._read(path))
            return Written("editor")

    async def on_disk(self, change: Change) -> Written:
        """Write the file, whole or not at all."""
        path, data = change.path, change.data
        async with self._noted(change, uri_of(path), "disk") as note:
            try:
                base = change.before or b""
                written = await self._disk.write(path, data, label=change.label, base=base)
            except ToolError:
                note.dropped()
                raise
            note.landed(data)
            return written

    @asynccontextmanager
    async def _noted(
        self, change: Change, uri: str, by: Literal["editor", "disk"]
    ) -> AsyncIterator[Note]:
        """Around the making of a change; what belongs to a tool call goes into the ledger."""
        if not change.call_id:
            yield Note()
            return
        folders = await to_thread.run_sync(_missing, change.path)
        making = self._ledger.making(
            change.path,
            uri,
            change.before,
            change.data,
            by=by,
            call_id=change.call_id,
            folders=folders,
        )
        async with making as note:
            yield note


def check(outcome: Outcome, name: str, data: bytes) -> None:
    """Nothing if it landed; else a ToolError that keeps the text that was to be written."""
    intended: JsonValue = {"path": name, "intended": data.decode("utf-8", "replace")}
    match outcome.kind:
        case "landed":
            return
        case "refused":
            raise ToolError(REFUSED.format(path=name, reason=outcome.reason.rstrip(".")), intended)
        case "stale":
            raise ToolError(CHANGED.format(path=name), intended)
        case "unproven":
            raise ToolError(UNPROVEN.format(path=name, reason=outcome.reason), intended)


def _missing(path: Path) -> list[str]:
    """The folders above that do not exist, outermost first."""
    return [str(folder) for folder in reversed(path.parents) if not folder.exists()]
