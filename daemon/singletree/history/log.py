"""A session's file as it is written: one entry a write, never cut, never rewritten.

Until something was said the lines wait in memory, as the bytes the file will have. A write that
fails leaves memory as it was. Knows lines and offsets, never what an entry means. Read next:
recovery.py (reading a file), lock.py (one writer), record.py (the tree and the file together).
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from singletree.errors import SessionError, SessionReadOnly, SessionUnreadable
from singletree.history.handles import open_above, sync_folder
from singletree.history.lock import SessionLock
from singletree.history.names import original_path
from singletree.pathtext import is_there
from singletree.private import make_private

REMOVED = "Another program has removed the session file; nothing was written."
REPLACED = (
    "Another program has replaced or cut the session file; nothing was written. "
    "Open the session again."
)
GO_ON = "A fork of the session keeps what is seen of it."

_CREATE = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders of ours under the agent folder."""

    locks: Path
    damaged: Path
    trash: Path

    @classmethod
    def under(cls, agent_dir: Path) -> Folders:
        """The usual ones."""
        ours = agent_dir / "singletree"
        return cls(ours / "locks", ours / "damaged", ours / "trash")


class SessionLog:
    """The file of one open session, or the bytes it will have. One thread writes."""

    def __init__(
        self,
        path: Path,
        waiting: bytes,
        folders: Folders,
        session_id: str,
        lock: SessionLock | None = None,
    ) -> None:
        self.path = path
        self.folders = folders
        self.read_only = False
        self.size = len(waiting)
        self.line_feed_missing = False
        """Whether the last line has no end yet; the next append gives it one."""
        self._waiting: bytearray | None = bytearray(waiting)
        self._session_id = session_id
        self._handle: int | None = None
        self._lock = lock
        self._folder_synced = True
        self._reading = Lock()
        """Held while a thread reads: a closed handle's number may be another file's at once."""

    @classmethod
    def of_file(
        cls,
        path: Path,
        folders: Folders,
        session_id: str,
        lock: SessionLock | None,
        *,
        size: int,
        whole: bool,
    ) -> SessionLog:
        """The log of a file read up to `size`; without a lock it is for reading only."""
        log = cls(path, b"", folders, session_id, lock)
        log._waiting = None
        log.read_only = lock is None
        log.size = size
        log.line_feed_missing = size > 0 and not whole
        mode = os.O_RDONLY if lock is None else os.O_RDWR | os.O_APPEND
        log._handle = open_above(path, mode)
        return log

    @property
    def on_disk(self) -> bool:
        """Whether the file exists."""
        return self._handle is not None

    def append(self, line: bytes, *, create: bool = False) -> int:
        """Write one line; its offset. A SessionError leaves everything in memory as it was.

        Between the end that was known and that offset may stand what another program has appended.
        `create`: from now on there is a file, with everything that waited in memory.
        """
        if self.read_only:
            raise SessionReadOnly("The session is open for reading only.", detail=self._where())
        waiting = self._waiting
        if waiting is None:
            self._write(line)
        elif create:
            self._create(bytes(waiting) + line)
        else:
            waiting += line
        self.size += len(line)
        return self.size - len(line)

    def create(self) -> None:
        """Make the file now, with what waits in memory."""
        if self._waiting is not None:
            self._create(bytes(self._waiting))

    def read(self, offset: int, size: int) -> bytes:
        """Bytes that were appended or found."""
        waiting = self._waiting
        if waiting is not None:
            return bytes(waiting[offset : offset + size])
        with self._reading:
            if self._handle is None:
                raise SessionUnreadable("The session is closed.", detail=self._where())
            return os.pread(self._handle, size, offset)

    def growth(self) -> bytes:
        """The whole lines that another program has appended since; they count as ours now.

        A line that has no end yet may still be on its way: it is waited for, or passed by.
        """
        if self._handle is None:
            return b""
        now = os.fstat(self._handle)
        if wrong := self._wrong(now):
            raise SessionUnreadable(wrong, hint=GO_ON, detail=self._where())
        if now.st_size == self.size:
            return b""
        grown = self.read(self.size, now.st_size - self.size)
        whole = grown[: grown.rfind(b"\n") + 1]
        self.line_feed_missing = len(whole) < len(grown)
        self.size += len(whole)
        return whole

    def is_replaced(self) -> bool:
        """Whether another file is in the place of this one, or less of it. Looks at the disk."""
        return self._handle is not None and self._wrong(os.fstat(self._handle)) == REPLACED

    def _wrong(self, now: os.stat_result) -> str:
        """What another program did to the file but add to it."""
        try:
            there = self.path.stat()
        except OSError:
            return REMOVED
        same = os.path.samestat(there, now) and now.st_size >= self.size
        return "" if same else REPLACED

    def sync(self) -> None:
        """Make sure that everything written survives a power cut. Slow: call it in a thread."""
        if self._handle is None or self.read_only:
            return
        try:
            os.fsync(self._handle)
            if not self._folder_synced:
                sync_folder(self.path.parent)
                self._folder_synced = True
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Let the file and its lock go; what waits in memory is never written."""
        self.read_only = True
        with self._reading:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _create(self, content: bytes) -> None:
        """Make the file, which must not exist yet, or leave nothing behind."""
        lock = self._lock or SessionLock.take(self.folders.locks, self._session_id)
        try:
            self._handle = _new_file(self.path, content)
        except OSError as error:
            if self._lock is None:
                lock.release()
            raise self._failed(error) from error
        self._lock, self._waiting = lock, None
        self._folder_synced = False

    def _write(self, line: bytes) -> None:
        """Append to the file, after the line feed that may be missing."""
        if self._handle is None:
            raise SessionReadOnly("The session is closed.", detail=self._where())
        if self._lock is not None:
            self._lock.renew()
        lead = b"\n" if self.line_feed_missing else b""
        try:
            _write_all(self._handle, lead + line)
        except OSError as error:
            now = os.fstat(self._handle).st_size
            self.line_feed_missing |= now > self.size
            self.size = now
            raise self._failed(error) from error
        self.line_feed_missing = False
        end = os.lseek(self._handle, 0, os.SEEK_CUR)  # another program may have been quicker
        self.size = end - len(line)

    def _failed(self, error: OSError) -> SessionError:
        return SessionError(
            f"The session could not be written: {error.strerror}.",
            hint="Make room or check the permissions of its folder, then try again.",
            detail=self._where(),
        )

    def _where(self) -> dict[str, object]:
        return {"path": str(self.path)}


def _new_file(path: Path, content: bytes) -> int:
    """A file that is there whole or not at all; the lock keeps others of ours from its name."""
    make_private(path.parent)
    if is_there(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    handle = open_above(part, _CREATE)
    try:
        _write_all(handle, content)
        if original_path(path) is not None:
            os.fsync(handle)  # it will stand for the older file
        part.rename(path)
    except OSError:
        os.close(handle)
        part.unlink(missing_ok=True)
        raise
    return handle


def _write_all(handle: int, data: bytes) -> None:
    """One write; only what the system left over takes another."""
    done = os.write(handle, data)
    while done < len(data):
        done += os.write(handle, data[done:])
