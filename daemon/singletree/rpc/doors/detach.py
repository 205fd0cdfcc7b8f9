"""Starts a shared daemon that outlives whoever starts it: no parent, no terminal, no pipe of it.

Of those who would start one at the same moment one does, and all get the same; a daemon that finds
the place taken leaves. What it logs goes into a file beside its socket. Never knows what is spoken.
Read next: start.py (what the daemon does first), ../../host/claim.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from singletree.errors import SingletreeError
from singletree.host.claim import open_lock
from singletree.host.doorbell import PAUSE, check_place, holder, knock

START_SECONDS = 30.0
ATTEMPTS = 3
DESCRIPTORS = 1 << 16

NOT_STARTED = "The shared daemon did not start: {why}"
SEE_LOG = "its log is {log}."


def start(path: Path, arguments: Sequence[str]) -> socket.socket:
    """Start a daemon at a place, unless somebody else just does, and connect to it."""
    check_place(path)
    os.close(open_lock(path))  # what the daemon could not say, for its log is beside it
    log = log_at(path)
    said = _size(log)
    until = time.monotonic() + START_SECONDS
    attempts = 0
    while attempts < ATTEMPTS and time.monotonic() < until:
        if (daemon := knock(path)) is not None:
            return daemon
        with _turn(path) as ours:
            if ours:
                attempts += 1
                _launch(path, log, arguments, until)
        if not ours:
            time.sleep(PAUSE)
    if (daemon := knock(path)) is not None:
        return daemon
    why = _last_line(log, said) or SEE_LOG.format(log=log)
    raise SingletreeError(NOT_STARTED.format(why=why))


def log_at(path: Path) -> Path:
    """The log of the daemon of a place; logs.py keeps it from growing large."""
    return path.with_suffix(".log")


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[bool]:
    """Whether it is for us to start one; who comes at the same time waits for the outcome."""
    lock = os.open(path.with_name(path.name + ".start"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _take(lock)
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _launch(path: Path, log: Path, arguments: Sequence[str], until: float) -> None:
    """Start a daemon and wait until one listens, or until it has left and none does."""
    try:
        told = _fork(path, log, arguments)
    except OSError as error:
        raise SingletreeError(NOT_STARTED.format(why=error.strerror)) from error
    try:
        while time.monotonic() < until:
            if not select.select([told], [], [], PAUSE)[0]:
                continue
            if os.read(told, 100) or holder(path) is None:
                return
            time.sleep(PAUSE)  # another daemon has the place and will listen, or leave it
    finally:
        os.close(told)


def _fork(path: Path, log: Path, arguments: Sequence[str]) -> int:
    """A daemon on its way; the pipe into which it says that it listens."""
    command = [sys.executable, "-P", "-m", "singletree", "serve", "--listen", f"unix://{path}"]
    reading, writing = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    errors = _open_log(log, null)
    if (child := os.fork()) == 0:
        try:
            os.setsid()
            if os.fork() == 0:  # nobody's child: hosts end whole families
                for fd, stream in enumerate((null, writing, errors)):
                    os.dup2(stream, fd)
                os.closerange(3, DESCRIPTORS)  # whatever else the editor has let slip
                os.execv(sys.executable, [*command, *arguments])
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for fd in {writing, null, errors}:
        os.close(fd)
    return reading


def _open_log(log: Path, nowhere: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    with contextlib.suppress(OSError):
        return os.open(log, flags, 0o600)
    return nowhere


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError:
        return 0


def _last_line(log: Path, since: int) -> str:
    """What the daemon said last, of what it has said since then."""
    try:
        with log.open("rb") as lines:
            lines.seek(max(since, _size(log) - 4000))
            said = lines.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(said) if line.strip()), "")
