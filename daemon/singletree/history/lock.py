"""One writer per session: an advisory lock, away from the file, with the holder's pid inside.

The kernel frees the lock when its holder dies, so a pid left in the file is no obstacle. The lock
file goes when its holder lets go; a new taker makes sure that it locked the file that is there now.
Never knows a session's content. Read next: log.py (which holds it while a file may be written).
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack, suppress
from hashlib import blake2s
from pathlib import Path

from singletree.errors import SessionError, SessionLocked
from singletree.history.handles import open_above
from singletree.history.names import valid_session_id
from singletree.private import make_private


class SessionLock:
    """Held from `take` to `release`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle: int | None = handle

    @classmethod
    def take(cls, folder: Path, session_id: str) -> SessionLock:
        """Lock a session; SessionLocked names the holder."""
        path = folder / lock_name(session_id)
        try:
            handle = _try(path)
        except OSError as error:
            raise SessionError(
                f"The session cannot be locked in {folder}: {error.strerror}.",
                detail={"path": str(path)},
            ) from error
        if handle is None:
            raise _locked(path)
        return cls(path, handle)

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self._handle is None:
            return
        if self._stands(self._handle):
            self.path.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = None

    def renew(self) -> None:
        """Take it again where its file was removed; SessionLocked if another was quicker."""
        if self._handle is None or self._stands(self._handle):
            return
        try:
            handle = _try(self.path)
        except OSError:  # nobody else can take it either
            return
        if handle is None:
            raise _locked(self.path)
        os.close(self._handle)
        self._handle = handle

    def _stands(self, handle: int) -> bool:
        """Whether the file that is locked is the one that others see."""
        try:
            return os.path.samestat(os.fstat(handle), self.path.stat())
        except OSError:
            return False


def lock_name(session_id: str) -> str:
    """The file name of a session's lock: its id, or a hash of one that is no plain name."""
    if valid_session_id(session_id) and len(session_id) <= 200:
        return session_id
    return f"~{blake2s(session_id.encode(errors='replace')).hexdigest()}"


def held_by(folder: Path, session_id: str) -> int | None:
    """The process that has a session open now, 0 if it cannot be known; None: none has."""
    path = folder / lock_name(session_id)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid_in(path) or 0
    finally:
        os.close(handle)
    return None


def _try(path: Path) -> int | None:
    """The locked file's handle; None if another holds it, or it was removed meanwhile."""
    make_private(path.parent)
    with ExitStack() as unless:
        handle = open_above(path, os.O_RDWR | os.O_CREAT)
        unless.callback(os.close, handle)
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), path.stat()):
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
                unless.pop_all()
                return handle
    return None


def _locked(path: Path) -> SessionLocked:
    pid = _pid_in(path)
    holder = f"process {pid}" if pid else "another process"
    return SessionLocked(
        f"The session is open in {holder}.",
        hint="Close it there, or start a new session or a fork.",
        detail={"pid": pid},
    )


def _pid_in(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
