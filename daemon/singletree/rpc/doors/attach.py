"""`singletree attach`: an editor's pipes joined to the shared daemon's socket, bytes and no more.

Starts the daemon where none listens. Ends with the editor and with the daemon; the daemon ends with
neither. Standard library only and as little of it as can be, for it stands before everything an
editor sees. Never parses a message. Read next: detach.py (how a daemon is started), listen.py.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from singletree import __version__
from singletree.errors import SingletreeError
from singletree.host.doorbell import PAUSE, Holder, holder, knock, process_of
from singletree.host.places import shared_socket, socket_at
from singletree.rpc.hello import PROTOCOL_VERSIONS
from singletree.rpc.pipes.stdio import read_some, write_all

END_SECONDS = 5.0
"""How long the daemon may take to say its last to an editor that has closed its side."""

WAY_SECONDS = 2.0
FIRST_SECONDS = 15.0
LAST_SECONDS = 0.05
"""A daemon that dies closes what it has open one after the other, its lock perhaps last."""

OTHER_VERSION = "the shared daemon is version {theirs}, this is {ours}; `singletree stop` ends it"
NO_COMMON = "the shared daemon (version {theirs}) speaks another protocol; one of {ours} is used"
SILENT = "the shared daemon has not answered for {seconds:.0f} s; `singletree stop` ends it"
ENDED = "the shared daemon has ended"


def attach_main(arguments: Sequence[str]) -> int:
    """Be a language server, by means of the shared daemon; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        path, daemon = reach(*_options(arguments))
    except SingletreeError as error:
        tell(error.message)
        return 1
    join(daemon)
    time.sleep(LAST_SECONDS)
    gone = holder(path) is None
    if gone:
        tell(ENDED)
    os._exit(1 if gone else 0)  # a thread may still wait for the editor


def reach(path: Path, arguments: Sequence[str]) -> tuple[Path, socket.socket]:
    """A connection to the daemon of a place, or of one beside it where that speaks otherwise."""
    there = holder(path)
    daemon = knock(path)
    if daemon is not None and there is not None and there.version not in ("", __version__):
        path, daemon = _instead_of(there, path, daemon)
    if daemon is not None:
        return path, daemon
    from singletree.rpc.doors.detach import start

    return path, start(path, arguments)


def _instead_of(
    there: Holder, path: Path, daemon: socket.socket
) -> tuple[Path, socket.socket | None]:
    """What is used where a daemon of another version listens; None: one is to be started."""
    if not set(there.protocols) & set(PROTOCOL_VERSIONS):
        tell(NO_COMMON.format(theirs=there.version, ours=__version__))
        daemon.close()
        path = path.with_name(f"{path.stem}-{__version__}{path.suffix}")
        return path, knock(path)
    if there.clients == 0 and _makes_way(path, daemon):
        return path, None
    tell(OTHER_VERSION.format(theirs=there.version, ours=__version__))
    return path, knock(path) if daemon.fileno() < 0 else daemon


def _makes_way(path: Path, daemon: socket.socket) -> bool:
    """Ask a daemon that nobody uses to end for one of this version; whether it does."""
    if (pid := process_of(daemon)) <= 0:
        return False
    daemon.close()
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGUSR1)
    until = time.monotonic() + WAY_SECONDS
    while holder(path) is not None:
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE)
    return True


def join(daemon: socket.socket) -> None:
    """Carry bytes both ways until the daemon closes, or the editor reads no more."""
    asked = threading.Event()
    threading.Thread(target=_upwards, args=(daemon, asked), daemon=True).start()
    while not select.select([daemon], [], [], FIRST_SECONDS)[0]:
        if asked.is_set():
            tell(SILENT.format(seconds=FIRST_SECONDS))
            break
    with contextlib.suppress(OSError):
        while data := read_some(daemon.fileno()):
            write_all(1, data)


def _upwards(daemon: socket.socket, asked: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := read_some(0):
            asked.set()
            write_all(daemon.fileno(), data)
    try:
        daemon.shutdown(socket.SHUT_WR)
    except OSError:
        return  # it has closed
    time.sleep(END_SECONDS)
    os._exit(0)


def tell(what: str) -> None:
    """One line for the editor's log of this server."""
    with contextlib.suppress(OSError):
        os.write(2, f"singletree attach: {what}\n".encode(errors="backslashreplace"))


def _options(arguments: Sequence[str]) -> tuple[Path, Sequence[str]]:
    """The place, and what a daemon is started with if none is there."""
    if not arguments:
        return shared_socket(os.environ), ()
    from singletree.rpc.doors.start import parser, passed_on

    given = parser("singletree attach").parse_args(arguments)
    path = shared_socket(os.environ) if given.listen is None else socket_at(given.listen)
    return path, passed_on(given)
