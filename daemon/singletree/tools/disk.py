"""The plain disk as Files, and a World put together from parts.

A write is all or nothing: a new file beside the old one, synced, then renamed over it; links are
followed to the real file, whose mode and owner stay. Never knows a tool or an editor. Read next:
paths.py (how a path is understood), write.py and edit.py (who writes).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import anyio
from anyio import to_thread

from singletree.errors import ToolError
from singletree.pathtext import is_there
from singletree.tools.leads import Leads, place_of
from singletree.tools.looks import shown_name
from singletree.tools.paths import resolve, trouble
from singletree.tools.truncate import format_size
from singletree.tools.world import Content, Files, Listed, Shell, Stat, Written

CHUNK = 1024 * 1024
MAX_WHOLE = 64 * 1024 * 1024
"""Bytes of a file that is held as a whole, as an edit needs it."""

IS_FOLDER = "{path} is a folder: a file cannot be written there."
NOT_PLAIN = "{path} is not a plain file (a device, a pipe or a socket): it is not written."
READ_ONLY = "{path} is read-only. Nothing was changed."
TOO_LARGE = (
    "{path} is {size}; files above {most} are neither edited nor written over here. Use a command."
    " Nothing was changed."
)
CHANGED = (
    "{path} was changed by something else at this very moment. Nothing was written: read it again."
)


class Disk:
    """Files as they are on the disk."""

    @cached_property
    def leads(self) -> Leads:
        """Where paths led when they were allowed: nothing is read or written elsewhere."""
        return Leads()

    async def stat(self, path: Path) -> Stat | None:
        """None if nothing is there, or only a link that leads nowhere."""
        return await to_thread.run_sync(_stat, path)

    async def read(self, path: Path) -> bytes:
        """The whole file; a ToolError for one that is too large for that."""
        return await to_thread.run_sync(_whole, path, self.leads)

    @asynccontextmanager
    async def opened(self, path: Path) -> AsyncIterator[Content | None]:
        """The file in pieces of a megabyte; a small one is looked at and read in one go."""
        stat, file, first = await to_thread.run_sync(_begun, path, self.leads)
        if stat is None:
            yield None
            return
        with file or nullcontext():
            async with aclosing(_pieces(file, first)) as pieces:
                yield Content(stat, pieces)

    async def entries(self, path: Path) -> list[Listed]:
        """What is in a folder, in no order."""
        return await to_thread.run_sync(_entries, path, self.leads)

    async def write(
        self,
        path: Path,
        data: bytes,
        *,
        label: str,
        base: bytes | None = None,
        call_id: str = "",
    ) -> Written:
        """Replace the file; once begun it is finished, even when the caller is cancelled."""
        try:
            await to_thread.run_sync(_replace, path, data, base, self.leads)
        except OSError as error:
            raise trouble(path, error, unchanged=True) from error
        return Written()

    async def remove(self, path: Path) -> None:
        """Take a file away."""
        await to_thread.run_sync(path.unlink)

    def dirty(self) -> Mapping[Path, bytes]:
        """A disk has no unsaved text."""
        return {}


class FileLocks:
    """One at a time per real file, in the order of asking; worlds of a process share them."""

    def __init__(self) -> None:
        self._door = anyio.Lock()
        self._queues: dict[str, deque[anyio.Event]] = {}

    @asynccontextmanager
    async def hold(self, path: Path) -> AsyncIterator[None]:
        """Wait for the turn of this caller and keep it for the block."""
        async with self._door:
            real = await to_thread.run_sync(os.path.realpath, path)
            queue = self._queues.setdefault(real, deque())
            turn = anyio.Event()
            queue.append(turn)
        try:
            if queue[0] is not turn:
                await turn.wait()
            yield
        finally:
            held = queue[0] is turn
            queue.remove(turn)
            if not queue:
                del self._queues[real]
            elif held:
                queue[0].set()


class LocalWorld:
    """A World of a folder, files and a shell. Its locks may be shared with other worlds."""

    def __init__(
        self, cwd: Path, files: Files, shell: Shell, locks: FileLocks | None = None
    ) -> None:
        self._cwd = cwd
        self._files = files
        self._shell = shell
        self._locks = locks or FileLocks()

    @property
    def cwd(self) -> Path:
        """The workspace."""
        return self._cwd

    @property
    def files(self) -> Files:
        """Its files."""
        return self._files

    @property
    def shell(self) -> Shell:
        """Its shell."""
        return self._shell

    def resolve(self, path: str) -> Path:
        """A path as a model or a person writes it, made absolute."""
        return resolve(path, self._cwd)

    def lock(self, path: Path) -> AbstractAsyncContextManager[None]:
        """Held while a file is changed."""
        return self._locks.hold(path)


def _stat(path: Path) -> Stat | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(found.st_mode):
        return Stat("file", found.st_size)
    return Stat("dir" if stat.S_ISDIR(found.st_mode) else "other")


def _opened(path: Path, leads: Leads) -> BinaryIO:
    """The file. What became a pipe meanwhile is no reason to wait."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with ExitStack() as unless:
        file = unless.enter_context(open(handle, "rb"))  # noqa: PTH123
        leads.check_open(path, handle)
        unless.pop_all()
    return file


def _whole(path: Path, leads: Leads) -> bytes:
    with _opened(path, leads) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > MAX_WHOLE else file.read(MAX_WHOLE + 1)
    if max(size, len(data)) > MAX_WHOLE:
        told = format_size(size), format_size(MAX_WHOLE)
        raise ToolError(TOO_LARGE.format(path=shown_name(path), size=told[0], most=told[1]))
    return data


def _begun(path: Path, leads: Leads) -> tuple[Stat | None, BinaryIO | None, bytes]:
    """What is there, a file's first piece, and the file where that is not all of it."""
    found = _stat(path)
    if found is None or found.kind != "file":
        return found, None, b""
    with ExitStack() as unless:
        file = unless.enter_context(_opened(path, leads))
        piece = file.read(min(CHUNK, found.size + 1))
        if len(piece) == found.size < CHUNK:
            return found, None, piece
        unless.pop_all()
    return found, file, piece


async def _pieces(file: BinaryIO | None, first: bytes) -> AsyncGenerator[bytes, None]:
    piece = first
    while piece:
        yield piece
        piece = await to_thread.run_sync(file.read, CHUNK) if file else b""


def _entries(path: Path, leads: Leads) -> list[Listed]:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        leads.check_open(path, handle)
        with os.scandir(handle) as found:
            return [Listed(entry.name, _kind(entry, path)) for entry in found]
    finally:
        os.close(handle)


def _kind(entry: os.DirEntry[str], folder: Path) -> str:
    with contextlib.suppress(OSError):
        if entry.is_dir():
            return "dir"
        if entry.is_file():
            return "file"
        if entry.is_symlink() and not is_there(folder / entry.name):
            return "link"
    return "other"


def _replace(path: Path, data: bytes, base: bytes | None, leads: Leads) -> None:
    """Put `data` in place of the file, or leave everything as it was."""
    real = Path(os.path.realpath(path))
    leads.check(path, str(real))
    old = _writable(path, real)
    made = _make_folders(real.parent)
    try:
        with _held(real.parent) as folder:
            leads.check(path, f"{place_of(folder, real.parent).rstrip('/')}/{real.name}")
            with _beside(folder, real, data, old) as fresh:
                if base is not None and base != _content(real):
                    raise ToolError(CHANGED.format(path=path))
                os.replace(fresh, real.name, src_dir_fd=folder, dst_dir_fd=folder)
            with contextlib.suppress(OSError):
                os.fsync(folder)
    except BaseException:
        for one in reversed(made):
            with contextlib.suppress(OSError):
                one.rmdir()
        raise


@contextmanager
def _held(folder: Path) -> Iterator[int]:
    """A folder that stays the same whatever becomes of its path."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _beside(folder: int, real: Path, data: bytes, old: os.stat_result | None) -> Iterator[str]:
    """A new file beside the old one, to be renamed over it; gone again if it is not."""
    name = f".singletree-{secrets.token_hex(8)}.tmp"
    try:
        _write_new(folder, name, data, old, real)
        yield name
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


def _content(path: Path) -> bytes:
    """What is there now; nothing where there is no file."""
    try:
        return _whole(path, Leads())
    except FileNotFoundError:
        return b""


def _writable(path: Path, real: Path) -> os.stat_result | None:
    """What is there now; a ToolError if it may not be written over."""
    try:
        old = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(old.st_mode):
        raise ToolError(IS_FOLDER.format(path=path))
    if not stat.S_ISREG(old.st_mode):
        raise ToolError(NOT_PLAIN.format(path=path))
    if not old.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise ToolError(READ_ONLY.format(path=path))
    return old


def _make_folders(folder: Path) -> list[Path]:
    """Make the missing ones, from the top; these come back."""
    missing = []
    while not is_there(folder):
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    for part in reversed(missing):
        part.mkdir(exist_ok=True)
        made.append(part)
    return made


def _write_new(folder: int, name: str, data: bytes, old: os.stat_result | None, real: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(name, flags, 0o666 if old is None else 0o600, dir_fd=folder)
    with open(handle, "wb") as file:  # noqa: PTH123
        if old is not None:
            _take_over(file.fileno(), old, real)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _take_over(handle: int, old: os.stat_result, real: Path) -> None:
    """Owner, mode and extended attributes of the old file, as far as we may."""
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(real):
                os.setxattr(handle, name, os.getxattr(real, name))
