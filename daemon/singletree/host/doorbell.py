"""Whether a shared daemon is at a place, who it is, and a connection to it.

A place is the path of a socket; beside it lies the lock that its daemon holds, in which it says of
itself. Standard library only, and little of it: editors wait for what is imported here. Never
knows what is spoken over the socket. Read next: claim.py (the daemon's side).
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
PAUSE = 0.02
"""Seconds between two looks at something that nobody tells of."""

TOO_LONG = "{path} is too long for a socket ({length} bytes, {most} fit); name a shorter one."
NO_FOLDER = "The folder {folder} cannot be used for the daemon's socket: {why}."
NOT_SAFE = "Others may write in the folder {folder}; the daemon's socket needs one of your own."
NOT_REACHED = "The daemon at {path} cannot be reached: {why}."


class Holder:
    """The daemon of a place, as it says of itself. `pid` is 0 where it could not say anything."""

    __slots__ = ("clients", "pid", "protocols", "version")

    def __init__(self, pid: int, version: str, protocols: tuple[int, ...], clients: int) -> None:
        self.pid = pid
        self.version = version
        self.protocols = protocols
        self.clients = clients


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
        _connect(client, path, time.monotonic() + seconds)
    except (FileNotFoundError, ConnectionError):
        client.close()
        return None
    except OSError as error:
        client.close()
        why = error.strerror or "it does not take a connection"
        raise SingletreeError(NOT_REACHED.format(path=path, why=why)) from error
    client.settimeout(None)
    return client


def _connect(client: socket.socket, path: Path, until: float) -> None:
    """Connect; who comes in a crowd waits, for the kernel only says "not now" to a non-blocker."""
    while True:
        try:
            return client.connect(os.fsencode(path))
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
        time.sleep(PAUSE)


def process_of(daemon: socket.socket) -> int:
    """The process at the other end of a connection; 0 where it cannot be seen from here."""
    if sys.platform == "darwin":
        return int.from_bytes(daemon.getsockopt(_MAC_LOCAL, _MAC_PEER_PID, 4), sys.byteorder)
    found = daemon.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(found[:4], sys.byteorder)


_MAC_LOCAL, _MAC_PEER_PID = 0, 2


def holder(path: Path) -> Holder | None:
    """The daemon that has a place now; None where none has."""
    try:
        lock = os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return said_in(lock)
    finally:
        os.close(lock)
    return None


def said_in(lock: int) -> Holder:
    """What the holder of a lock has said of itself."""
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


def lock_path(path: Path) -> Path:
    """Where the lock of a place is."""
    return path.with_name(path.name + ".lock")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
