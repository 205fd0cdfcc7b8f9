"""The shared daemon as a person sees it: whether it runs, and how to end it.

Read next: claim.py (how a daemon holds its place).
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from singletree.errors import SingletreeError
from singletree.host.doorbell import PAUSE, holder, knock, process_of
from singletree.host.places import shared_socket, socket_at

STOP_SECONDS = 8.0

RUNS = "process {pid}, version {version}, {clients} connected, at {path}; `singletree stop` ends it"
NONE = "none runs; `singletree attach` starts one at {path}"
NOTHING = "No shared daemon runs at {path}."
STOPPED = "The shared daemon (process {pid}) has ended."
STUCK = "The shared daemon does not end; `kill -9 {pid}` ends it, nothing that was said is lost."
UNKNOWN = "A daemon runs at {path}, but cannot be seen from here; look for `serve --listen`."


def told(path: Path) -> str:
    """One line on the daemon of a place."""
    if (there := holder(path)) is None:
        return NONE.format(path=path)
    return RUNS.format(pid=there.pid, version=there.version, clients=there.clients, path=path)


def stop(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The lines of `singletree stop`: what runs is stopped, saved, and the daemon ends."""
    parser = argparse.ArgumentParser(prog="singletree stop")
    parser.add_argument("--listen", metavar="unix://PATH", help="its socket, if not the usual one")
    given = parser.parse_args(arguments)
    path = shared_socket(environment) if given.listen is None else socket_at(given.listen)
    if holder(path) is None:
        yield NOTHING.format(path=path)
        return
    pid = _process_at(path)
    if pid <= 0:
        raise SingletreeError(UNKNOWN.format(path=path))
    if not _end(pid):
        raise SingletreeError(STUCK.format(pid=pid))
    yield STOPPED.format(pid=pid)


def _process_at(path: Path) -> int:
    """The daemon's process as it is called here; another container may have written its own."""
    daemon = knock(path)
    if daemon is None:
        return 0
    with daemon:
        return process_of(daemon)


def _end(pid: int) -> bool:
    """Tell a process to end and wait for it; whether it has."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):  # not on this system
        os.kill(pid, signal.SIGTERM)
        return _poll(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        return bool(select.select([process], [], [], STOP_SECONDS)[0])
    finally:
        os.close(process)


def _poll(pid: int) -> bool:
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(PAUSE)
    return False
