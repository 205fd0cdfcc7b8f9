"""The files as the people at the editors see them: unsaved buffers first, then the disk.

An open file is changed in its editor, by one step that can be undone there, and only where the text
that comes back proves it; a closed one is written on the disk, whole or not at all. A buffer that
was unsaved before is never saved by us. Every change that a tool makes is in the ledger before it
is made. Never knows a tool. Read next: buffers.py (which buffer counts), applying.py (one edit and
its proof), saving.py (what follows it).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from anyio import to_thread
from pydantic import JsonValue

from singletree.errors import ToolError
from singletree.rpc.buffers.documents import uri_of
from singletree.rpc.buffers.encoding import as_buffer
from singletree.rpc.editing.applying import Outcome, apply, can_edit
from singletree.rpc.editing.buffers import Buffers, Opened, data_of
from singletree.rpc.editing.saving import after_edit
from singletree.rpc.editing.through import wanting_all, write_through
from singletree.rpc.peer import Peer
from singletree.session.edits.edit import Note
from singletree.session.edits.ledger import Ledger
from singletree.session.edits.revert import content
from singletree.tools.disk import CHUNK, Disk
from singletree.tools.leads import Leads
from singletree.tools.looks import shown_name
from singletree.tools.paths import trouble
from singletree.tools.world import Content, Files, Listed, Stat, Written

UNSAVED = (
    "{path} has unsaved changes in the editor, and that editor does not let others edit its text. "
    "Nothing was changed. Ask the user to save the file, then read it again."
)
TWO_TEXTS = (
    "{path} is open in two editors with different unsaved changes. Nothing was changed. Ask the "
    "user which of them counts."
)
CHANGED = (
    "{path} was changed while this edit was on its way. Nothing was changed by it: read the file "
    "again and repeat the edit."
)
NOT_OPEN = (
    "{path} is no text that is open in the editor. Nothing was written: give the path of a file."
)
NO_TEXT = "{path} is open in the editor, which can show only text. Nothing was changed."
REFUSED = "The editor did not apply this edit of {path}: {reason}. Nothing was changed."
UNPROVEN = (
    "It is not certain what became of this edit of {path}: the editor's text is now neither the "
    "old one nor the new one. Read the file before you go on."
)


@dataclass(frozen=True, slots=True)
class _Change:
    """A file on its way from one content to another. `call_id`: the tool call's, "" for none."""

    path: Path
    name: str
    before: bytes | None
    data: bytes
    label: str
    call_id: str


class EditorFiles:
    """Files of one session. `peers`: the clients whose buffers count, the session's own first."""

    def __init__(
        self,
        cwd: Path,
        peers: Callable[[], Sequence[Peer]],
        ledger: Ledger,
        disk: Files | None = None,
    ) -> None:
        self._cwd = cwd
        self._peers = peers
        self._buffers = Buffers(cwd, peers)
        self._ledger = ledger
        self._disk = disk or Disk()

    @property
    def leads(self) -> Leads:
        """Where paths led when they were allowed."""
        return self._disk.leads

    async def stat(self, path: Path) -> Stat | None:
        """What is there; an unsaved buffer is a file, also where the disk has none."""
        if (document := await self._buffers.unsaved(path)) is not None:
            return Stat("file", len(data_of(document.text)), dirty=True)
        return await self._disk.stat(path)

    async def read(self, path: Path) -> bytes:
        """The whole file."""
        if (document := await self._buffers.unsaved(path)) is not None:
            return data_of(document.text)
        return await self._disk.read(path)

    @asynccontextmanager
    async def opened(self, path: Path) -> AsyncIterator[Content | None]:
        """The file in pieces."""
        if (document := await self._buffers.unsaved(path)) is not None:
            data = data_of(document.text)
            async with aclosing(_pieces(data)) as pieces:
                yield Content(Stat("file", len(data), dirty=True), pieces)
        else:
            async with self._disk.opened(path) as content:
                yield content

    async def entries(self, path: Path) -> list[Listed]:
        """What is in a folder, and the unsaved buffers that belong there."""
        listed = await self._disk.entries(path)
        real = await to_thread.run_sync(path.resolve)
        names = {one.name for one in listed}
        new = [p.name for p in self._buffers.all_unsaved() if p.parent in (path, real)]
        return [*listed, *(Listed(name, "file") for name in new if name not in names)]

    def dirty(self) -> Mapping[Path, bytes]:
        """The unsaved buffers by real path."""
        return {path: data_of(text) for path, text in self._buffers.all_unsaved().items()}

    async def write(
        self,
        path: Path,
        data: bytes,
        *,
        label: str,
        base: bytes | None = None,
        call_id: str = "",
    ) -> Written:
        """Replace the whole file, where it is open through its editor."""
        name = self._name(path)
        opened = _to_edit(name, await self._buffers.find(path))
        version = opened.document.version if opened is not None else None
        stat = await self.stat(path)
        if stat is not None and stat.kind != "file":
            return await self._disk.write(path, data, label=label)
        _check_meant(name, stat, opened)
        try:
            before = await content(self, path)
        except OSError as error:
            raise trouble(path, error, unchanged=True) from error
        if base is not None and base != before:
            raise ToolError(CHANGED.format(path=name))
        change = _Change(path, name, before, data, label, call_id)
        if opened is not None:
            on_disk = None if opened.dirty else before
            shown = str(opened.document.text)
            text = await to_thread.run_sync(as_buffer, data, shown, on_disk)
            if opened.document.version != version:  # somebody typed meanwhile
                raise ToolError(CHANGED.format(path=name))
            if text is not None:
                return await self._edit(change, opened, text)
            if opened.dirty:
                raise ToolError(NO_TEXT.format(path=name))
        else:
            peer = wanting_all(self._peers(), new=before is None)
            if peer is not None and (written := await self._write_through(change, peer)):
                return written
        return await self._write_on_disk(change)

    async def remove(self, path: Path) -> None:
        """Take a file away; a buffer that shows it becomes empty first."""
        opened = _to_edit(self._name(path), await self._buffers.find(path))
        if opened is not None and str(opened.document.text):
            outcome = await apply(opened.peer, opened.document, "", f"undo {path.name}")
            _check(outcome, self._name(path), b"")
        if await self._disk.stat(path) is not None:
            await self._disk.remove(path)

    async def _edit(self, change: _Change, opened: Opened, text: str) -> Written:
        document = opened.document
        if text == str(document.text):
            return Written("editor")
        async with self._noted(change, document.uri, "editor") as note:
            outcome = await apply(opened.peer, document, text, change.label)
            if outcome.kind in ("refused", "stale"):
                note.dropped()
            _check(outcome, change.name, change.data)
            note.landed(change.data)
            said = await after_edit(opened)
            note.landed(await self.read(change.path))
            return Written("editor", said)

    async def _write_through(self, change: _Change, peer: Peer) -> Written | None:
        """A file that is not open, through an editor that wants all edits."""
        path, data = change.path, change.data
        async with self._noted(change, uri_of(path), "editor") as note:
            read = partial(content, self._disk, path)
            outcome = await write_through(peer, path, change.before, data, change.label, read)
            if outcome is None or outcome.kind == "refused":
                note.dropped()
            if outcome is None:
                return None
            _check(outcome, change.name, data)
            note.landed(await self.read(path))
            return Written("editor")

    async def _write_on_disk(self, change: _Change) -> Written:
        path, data = change.path, change.data
        async with self._noted(change, uri_of(path), "disk") as note:
            try:
                written = await self._disk.write(path, data, label=change.label, base=change.before)
            except ToolError:
                note.dropped()
                raise
            note.landed(data)
            return written

    @asynccontextmanager
    async def _noted(
        self, change: _Change, uri: str, by: Literal["editor", "disk"]
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

    def _name(self, path: Path) -> str:
        """A file as the model may name it."""
        inside = path.is_relative_to(self._cwd) and path != self._cwd
        return shown_name(path.relative_to(self._cwd) if inside else path)


def _check_meant(name: str, stat: Stat | None, opened: Opened | None) -> None:
    """No file is made of the name that a buffer without one has, or had."""
    if stat is None and opened is None and name.startswith("untitled:"):
        raise ToolError(NOT_OPEN.format(path=name))


def _to_edit(name: str, found: Sequence[Opened]) -> Opened | None:
    """Where the file is to be edited; None: on the disk. ToolError where that may not be."""
    unsaved = [opened for opened in found if opened.dirty]
    if len({str(opened.document.text) for opened in unsaved}) > 1:
        raise ToolError(TWO_TEXTS.format(path=name))
    able = [opened for opened in unsaved or found if can_edit(opened.peer)]
    if unsaved and not able:
        raise ToolError(UNSAVED.format(path=name))
    return able[0] if able else None


def _check(outcome: Outcome, name: str, data: bytes) -> None:
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
            raise ToolError(UNPROVEN.format(path=name), intended)


def _missing(path: Path) -> list[str]:
    """The folders above that do not exist, outermost first."""
    return [str(folder) for folder in reversed(path.parents) if not folder.exists()]


async def _pieces(data: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(data), CHUNK):
        yield data[at : at + CHUNK]
