"""The files as the people at the editors see them: unsaved buffers first, then the disk.

Never knows a tool. Read next: buffers.py (which buffer counts).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from anyio import to_thread

from singletree.rpc.buffers import Buffers, data_of
from singletree.rpc.peer import Peer
from singletree.tools.disk import CHUNK, Disk
from singletree.tools.world import Files, Listed, Stat, Written


class EditorFiles:
    """Files of one session. `peers`: the clients whose buffers count, the session's own first."""

    def __init__(
        self, cwd: Path, peers: Callable[[], Sequence[Peer]], disk: Files | None = None
    ) -> None:
        self._buffers = Buffers(cwd, peers)
        self._disk = disk or Disk()

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

    async def chunks(self, path: Path) -> AsyncGenerator[bytes, None]:
        """The file in pieces."""
        if (document := await self._buffers.unsaved(path)) is not None:
            data = data_of(document.text)
            for at in range(0, len(data), CHUNK):
                yield data[at : at + CHUNK]
            return
        async with aclosing(self._disk.chunks(path)) as pieces:
            async for piece in pieces:
                yield piece

    async def entries(self, path: Path) -> list[Listed]:
        """What is in a folder, and the unsaved buffers that belong there."""
        listed = await self._disk.entries(path)
        real = await to_thread.run_sync(path.resolve)
        names = {one.name for one in listed}
        new = [p.name for p in self._buffers.all_unsaved() if p.parent in (path, real)]
        return [*listed, *(Listed(name, "file") for name in new if name not in names)]

    async def write(
        self,
        path: Path,
        data: bytes,
        *,
        label: str,
        base: bytes | None = None,
        call_id: str = "",
    ) -> Written:
        """Replace the whole file."""
        return await self._disk.write(path, data, label=label, base=base, call_id=call_id)

    def dirty(self) -> Mapping[Path, bytes]:
        """The unsaved buffers by real path."""
        return {path: data_of(text) for path, text in self._buffers.all_unsaved().items()}
