"""Processes that outlive their command: found, ended, and swept up after a daemon that was killed.

A command's processes are known by three marks: its session (setsid), a word in their environment,
and the parent they descend from; one that sheds all three is not found. Each running command has a
file in `<agent dir>/singletree/children/`; a file whose daemon is gone tells the next one what to
sweep. Never starts a process.
Read next: shell.py. Where there is no /proc only the process group is known.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from singletree.pathtext import read_plain
from singletree.private import make_private

MARK = "SINGLETREE_COMMAND"
"""The variable that marks all descendants of a command."""

_PROC = Path("/proc")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine; `started` in clock ticks since the machine did."""

    pid: int
    parent: int
    session: int
    started: int
    dead: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command as its processes are recognised by."""

    session: int
    started: int
    mark: str


def process(pid: int) -> Process | None:
    """What is known of `pid`; None if there is no such process (or no /proc)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123  # of hundreds
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(
        pid, int(fields[1]), int(fields[3]), int(fields[19]), dead=fields[0] in (b"Z", b"X")
    )


def processes() -> list[Process]:
    """All processes we may look at."""
    try:
        names = [entry.name for entry in _PROC.iterdir()]
    except OSError:
        return []
    found = (process(int(name)) for name in names if name.isdigit())
    return [p for p in found if p is not None]


def command_of(pid: int, mark: str) -> Command:
    """The command whose shell is `pid`, just started."""
    seen = process(pid)
    return Command(pid, seen.started if seen else 0, mark)


def belonging(command: Command) -> list[Process]:
    """Live processes of a command: in its session, marked as its own, or a child of such a one."""
    found = processes()
    young = [p for p in found if not p.dead and p.started >= command.started]
    young = [p for p in young if p.pid != os.getpid()]
    leader = next((p for p in found if p.pid == command.session), None)
    ours = leader is None or command.started in (0, leader.started)  # its number may be another's
    mine = {
        p.pid
        for p in young
        if (ours and p.session == command.session) or _is_marked(p.pid, command.mark)
    }
    while more := {p.pid for p in young if p.parent in mine} - mine:
        mine |= more
    return [p for p in young if p.pid in mine]


def end(command: Command, *, grace: float = 0.2) -> int:
    """End what is left of a command: asked first, then killed. Returns how many there were.

    Blocks for `grace` seconds at most: called in a worker thread.
    """
    left = belonging(command)
    if not left:
        return 0
    seen = {p.pid for p in left}
    _signal(left, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline:
        time.sleep(0.01)
        if not _alive(left):
            break
    for _ in range(20):  # one that forks while it is being killed loses in the end
        left = belonging(command)
        if not left:
            break
        seen |= {p.pid for p in left}
        _signal(left, signal.SIGKILL)
        time.sleep(0.005)
    return len(seen)


class Children:
    """The record of running commands of this daemon; None as a folder keeps no record."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def note(self, command: Command) -> Path | None:
        """Write a command down; the path is for `forget`. None where it cannot be written."""
        if self._folder is None:
            return None
        try:
            return self._write(self._folder, command)
        except OSError:
            return None

    def _write(self, folder: Path, command: Command) -> Path:
        make_private(folder)
        me = process(os.getpid())
        path = folder / f"{os.getpid()}-{command.session}.json"
        record = {
            "boot": _boot(),
            "daemon": os.getpid(),
            "daemonStarted": me.started if me else 0,
            "session": command.session,
            "started": command.started,
            "mark": command.mark,
        }
        torn = path.with_suffix(".new")
        torn.write_text(json.dumps(record), encoding="utf-8")
        torn.replace(path)
        return path

    def forget(self, path: Path | None) -> None:
        """The command and all its processes are gone."""
        if path is not None:
            path.unlink(missing_ok=True)


def sweep(folder: Path) -> int:
    """End what daemons that are gone left running; returns how many processes that were.

    A record of another boot, or one nobody can read, is only removed. Blocks: worker thread.
    """
    ended = 0
    if not folder.is_dir():
        return 0
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(read_plain(path))
            daemon, born = int(record["daemon"]), int(record["daemonStarted"])
            command = Command(int(record["session"]), int(record["started"]), str(record["mark"]))
            same_boot = record["boot"] == _boot()
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            path.unlink(missing_ok=True)
            continue
        if same_boot and _lives(daemon, born):
            continue
        if same_boot:
            ended += end(command)
        path.unlink(missing_ok=True)
    return ended


def _lives(pid: int, started: int) -> bool:
    found = process(pid)
    return found is not None and not found.dead and found.started == started


def _is_marked(pid: int, mark: str) -> bool:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def _alive(among: Sequence[Process]) -> bool:
    return any(_lives(p.pid, p.started) for p in among)


def _signal(whom: Iterable[Process], number: signal.Signals) -> None:
    """Through a pidfd where there is one, so that a number used again is never hit."""
    for target in whom:
        with contextlib.suppress(OSError):
            if hasattr(os, "pidfd_open"):
                handle = os.pidfd_open(target.pid)
                try:
                    if _lives(target.pid, target.started):
                        signal.pidfd_send_signal(handle, number)
                finally:
                    os.close(handle)
            elif _lives(target.pid, target.started):
                os.kill(target.pid, number)


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
