"""The files as the people at the editors see them: unsaved buffers first, then the disk.

Decides where a change is made: an open file in its editor, a closed one on the disk, or through an
editor that wants all edits. Never knows a tool. Read next: buffers.py (which buffer counts),
writing.py (how a change is made).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from anyio import to_thread

from singletree.errors import ToolError
from singletree.rpc.buffers.encoding import as_buffer
from singletree.rpc.editing.applying import apply, can_edit
from singletree.rpc.editing.buffers import Buffers, Opened, data_of
from singletree.rpc.editing.through import wanting_all
from singletree.rpc.editing.writing import CHANGED, Change, Writing, check
from singletree.rpc.peer import Peer
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
NOT_OPEN = (
    "{path} is no text that is open in the editor. Nothing was written: give the path of a file."
)
NO_TEXT = "{path} is open in the editor, which can show only text. Nothing was changed."


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
        self._disk = disk or Disk()
        self._buffers = Buffers(cwd, peers, self._disk.leads)
        self._writing = Writing(ledger, self._disk, self.read)

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
        change = Change(path, name, before, data, label, call_id)
        if opened is not None:
            on_disk = None if opened.dirty else before
            shown = str(opened.document.text)
            text = await to_thread.run_sync(as_buffer, data, shown, on_disk)
            if opened.changed:
                raise ToolError(CHANGED.format(path=name))
            if text is not None:
                return await self._writing.in_buffer(change, opened, text)
            if opened.dirty:
                raise ToolError(NO_TEXT.format(path=name))
        else:
            peer = wanting_all(self._peers(), new=before is None)
            if peer is not None and (written := await self._writing.through(change, peer)):
                return written
        return await self._writing.on_disk(change)

    async def remove(self, path: Path) -> None:
        """Take a file away; a buffer that shows it becomes empty first."""
        opened = _to_edit(self._name(path), await self._buffers.find(path))
        if opened is not None and str(opened.document.text):
            outcome = await apply(opened, "", f"undo {path.name}")
            check(outcome, self._name(path), b"")
        if await self._disk.stat(path) is not None:
            await self._disk.remove(path)

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


async def _pieces(data: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(data), CHUNK):
        yield data[at : at + CHUNK]
