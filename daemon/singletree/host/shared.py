"""The shared daemon as a person sees it: whether it runs, and how to end it.

Read next: claim.py (how a daemon holds its place).
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from singletree.errors import SingletreeError
from singletree.host.claim import PAUSE, holder
from singletree.host.places import shared_socket, socket_at

STOP_SECONDS = 8.0

RUNS = "process {pid}, version {version}, {clients} connected, at {path}; `singletree stop` ends it"
NONE = "none runs; `singletree attach` starts one at {path}"
NOTHING = "No shared daemon runs at {path}."
STOPPED = "The shared daemon (process {pid}) has ended."
STUCK = "The shared daemon does not end; `kill -9 {pid}` ends it, nothing that was said is lost."
UNKNOWN = "A daemon runs at {path}, but has not said as which process; look for `serve --listen`."


def told(path: Path) -> str:
    """One line on the daemon of a place."""
    if (there := holder(path)) is None:
        return NONE.format(path=path)
    return RUNS.format(pid=there.pid, version=there.version, clients=there.clients, path=path)


def stop(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The lines of `singletree stop`: what runs is stopped, saved, and the daemon ends."""
    parser = argparse.ArgumentParser(prog="singletree stop")
    parser.add_argument("--listen", metavar="unix://PATH")
    given = parser.parse_args(arguments)
    path = shared_socket(environment) if given.listen is None else socket_at(given.listen)
    there = holder(path)
    if there is None:
        yield NOTHING.format(path=path)
        return
    if there.pid <= 0:
        raise SingletreeError(UNKNOWN.format(path=path))
    os.kill(there.pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while _lives(there.pid) and time.monotonic() < until:
        time.sleep(PAUSE)
    if _lives(there.pid):
        raise SingletreeError(STUCK.format(pid=there.pid))
    yield STOPPED.format(pid=there.pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
