"""The place of a shared daemon: a socket in a folder of one's own, held by a lock beside it.

Whoever has the lock is the daemon of the place; a socket without one is left over from a dead
daemon and is replaced. The lock's file says who has it. Standard library only, and little of it:
editors wait for what is imported here. Never knows what is spoken over the socket. Read next:
places.py (where the place is), ../rpc/listen.py, ../rpc/attach.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
import sys
import time
from pathlib import Path

from singletree.errors import SingletreeError

LONGEST = 103 if sys.platform == "darwin" else 107
"""Bytes of a path that fit into the address of a socket."""
TAKE_SECONDS = 1.0
"""How long a place that is just being left is waited for."""
PAUSE = 0.02
WAITING_CLIENTS = 128

TOO_LONG = "{path} is too long for a socket ({length} bytes, {most} fit); name a shorter one."
NO_FOLDER = "The folder {folder} cannot be used for the daemon's socket: {why}."
NOT_SAFE = "Others may write in the folder {folder}; the daemon's socket needs one of your own."
NO_SOCKET = "{path} is there and is no socket; move it away."
NO_PLACE = "The daemon cannot listen at {path}: {why}."
NOT_REACHED = "The daemon at {path} cannot be reached: {why}."
TAKEN = "A daemon listens at {path} already (process {pid})."


class Holder:
    """The daemon of a place, as it says of itself. `pid` is 0 where it could not say anything."""

    __slots__ = ("clients", "pid", "protocols", "version")

    def __init__(self, pid: int, version: str, protocols: tuple[int, ...], clients: int) -> None:
        self.pid = pid
        self.version = version
        self.protocols = protocols
        self.clients = clients


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
        """Write into the lock's file who is here. Of use to people; nothing depends on it."""
        spoken = ",".join(map(str, protocols))
        line = f"pid={os.getpid()} version={version} protocols={spoken} clients={clients}\n"
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._lock, line.ljust(200).encode(), 0)

    def hide(self) -> None:
        """Let nobody come any more who is not on the way; `show` takes it back."""
        if self._is_ours(self.path):
            self.path.replace(self._aside)

    def show(self) -> None:
        """Be found again."""
        if self._is_ours(self._aside):
            self._aside.replace(self.path)

    def leave(self) -> None:
        """Give the place up: from now on another daemon may take it."""
        if self._lock is None:
            return
        for path in (self.path, self._aside):
            if self._is_ours(path):
                path.unlink()
        self.listener.close()
        os.close(self._lock)
        self._lock = None

    def _is_ours(self, path: Path) -> bool:
        try:
            return os.path.samestat(path.lstat(), self._own)
        except OSError:
            return False


def check_place(path: Path) -> None:
    """Raise where a path is too long, or its folder is not safe; one that is missing is."""
    length = len(os.fsencode(path)) + 1  # "~", for the moment in which it is hidden
    if length > LONGEST:
        raise SingletreeError(TOO_LONG.format(path=path, length=length - 1, most=LONGEST - 1))
    folder = path.parent
    try:
        found = folder.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SingletreeError(NO_FOLDER.format(folder=folder, why=error.strerror)) from error
    if not stat.S_ISDIR(found.st_mode):
        raise SingletreeError(NO_FOLDER.format(folder=folder, why="it is no folder"))
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SingletreeError(NOT_SAFE.format(folder=folder))


def knock(path: Path, seconds: float = 5.0) -> socket.socket | None:
    """A connection to the daemon of a place; None where none listens."""
    check_place(path)
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(seconds)
    try:
        client.connect(os.fsencode(path))
    except (FileNotFoundError, ConnectionError):
        client.close()
        return None
    except OSError as error:
        client.close()
        why = error.strerror or "it does not take a connection"
        raise SingletreeError(NOT_REACHED.format(path=path, why=why)) from error
    client.settimeout(None)
    return client


def holder(path: Path) -> Holder | None:
    """The daemon that has a place now; None where none has."""
    try:
        lock = os.open(_lock_path(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(lock)
    finally:
        os.close(lock)
    return None


def _read(lock: int) -> Holder:
    """Who has the lock."""
    line = ""
    with contextlib.suppress(OSError):
        line = os.pread(lock, 1000, 0).decode(errors="replace")
    said = dict(word.split("=", 1) for word in line.split() if "=" in word)
    spoken = said.get("protocols", "").split(",")
    return Holder(
        _number(said.get("pid", "")),
        said.get("version", ""),
        tuple(_number(one) for one in spoken if one),
        _number(said.get("clients", "")),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _make_folder(folder: Path) -> None:
    """Make the folder of a place, for its owner alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SingletreeError(NO_FOLDER.format(folder=folder, why=error.strerror)) from error


def open_lock(path: Path) -> int:
    """The lock's file, made if it is missing; raises where nothing can be written."""
    _make_folder(path.parent)
    try:
        return os.open(_lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SingletreeError(NO_PLACE.format(path=path, why=error.strerror)) from error


def _take_lock(path: Path, patience: float) -> int:
    until = time.monotonic() + patience
    lock = open_lock(path)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > until:
                pid = _read(lock).pid
                os.close(lock)
                raise SingletreeError(TAKEN.format(path=path, pid=pid)) from None
        except OSError as error:
            os.close(lock)
            raise SingletreeError(NO_PLACE.format(path=path, why=error.strerror)) from error
        time.sleep(PAUSE)


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
