"""The place of a shared daemon: a socket in a folder of one's own, held by a lock beside it.

Whoever has the lock is the daemon of the place; a socket without one is left over from a dead
daemon and is replaced. The lock's file says who has it. Standard library only. Never knows what is
spoken over the socket. Read next: places.py (where the place is), doorbell.py (who comes to it),
../rpc/doors/listen.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
import time
from pathlib import Path

from singletree.errors import SingletreeError
from singletree.host.doorbell import NO_FOLDER, PAUSE, check_place, knock, lock_path, said_in
from singletree.private import make_private

TAKE_SECONDS = 1.0
"""How long a place that is just being left is waited for."""
WAITING_CLIENTS = 512
"""More than a daemon lets in: on Linux, a client that does not block is told "not now" where the
queue is full, and an event loop may take that for a connection."""

NO_SOCKET = "{path} is there and is no socket; move it away."
NO_PLACE = "The daemon cannot listen at {path}: {why}."
TAKEN = "A daemon listens at {path} already (process {pid})."


class Claim:
    """A place that is ours, from `take` to `leave`; `listener` is its socket."""

    def __init__(self, path: Path, lock: int, listener: socket.socket) -> None:
        self.path = path
        self.listener = listener
        self._aside = path.with_name(path.name + "~")
        self._lock: int | None = lock
        self._own = path.stat()  # its inode is not used again as long as the socket is open

    @classmethod
    def take(cls, path: Path, patience: float = TAKE_SECONDS) -> Claim:
        """Listen at a place; raises where that cannot be or another daemon does."""
        check_place(path)
        lock = _take_lock(path, patience)
        try:
            return cls(path, lock, _listen(path))
        except OSError as error:
            os.close(lock)
            raise SingletreeError(NO_PLACE.format(path=path, why=error.strerror)) from error
        except BaseException:
            os.close(lock)
            raise

    def say(self, version: str, protocols: tuple[int, ...], clients: int) -> None:
        """Write into the lock's file who is here, for people and for those who come."""
        spoken = ",".join(map(str, protocols))
        line = f"pid={os.getpid()} version={version} protocols={spoken} clients={clients}\n"
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._lock, line.ljust(200).encode(), 0)

    def hide(self) -> None:
        """Let nobody come any more who is not on the way; `show` takes it back."""
        if self._is_ours(self.path):
            with contextlib.suppress(OSError):
                self.path.replace(self._aside)

    def show(self) -> None:
        """Be found again."""
        if self._is_ours(self._aside):
            with contextlib.suppress(OSError):
                self._aside.replace(self.path)

    def leave(self) -> None:
        """Give the place up: from now on another daemon may take it."""
        if self._lock is None:
            return
        for path in (self.path, self._aside):
            if self._is_ours(path):
                with contextlib.suppress(OSError):
                    path.unlink()
        self.listener.close()
        os.close(self._lock)
        self._lock = None

    def _is_ours(self, path: Path) -> bool:
        try:
            return os.path.samestat(path.lstat(), self._own)
        except OSError:
            return False


def open_lock(path: Path) -> int:
    """The lock's file, made if it is missing; raises where nothing can be written."""
    _make_folder(path.parent)
    try:
        return os.open(lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SingletreeError(NO_PLACE.format(path=path, why=error.strerror)) from error


def _take_lock(path: Path, patience: float) -> int:
    until = time.monotonic() + patience
    lock = open_lock(path)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                pid = said_in(lock).pid
                os.close(lock)
                raise SingletreeError(TAKEN.format(path=path, pid=pid)) from None
        except OSError as error:
            os.close(lock)
            raise SingletreeError(NO_PLACE.format(path=path, why=error.strerror)) from error
        time.sleep(PAUSE)
    with contextlib.suppress(OSError):  # what the last one said of itself
        os.ftruncate(lock, 0)
    return lock


def _make_folder(folder: Path) -> None:
    try:
        make_private(folder)
    except OSError as error:
        raise SingletreeError(NO_FOLDER.format(folder=folder, why=error.strerror)) from error


def _listen(path: Path) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise SingletreeError(NO_SOCKET.format(path=path))
        if (living := knock(path)) is not None:  # somebody has removed its lock
            living.close()
            raise SingletreeError(TAKEN.format(path=path, pid="unknown"))
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(os.fsencode(path))
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(mask)
    listener.listen(WAITING_CLIENTS)
    listener.setblocking(False)
    return listener
