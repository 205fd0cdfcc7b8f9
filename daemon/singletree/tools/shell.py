"""A shell on this machine: one process per command, in a session of its own, ended as a whole.

A command has no terminal, an empty stdin and an environment without the daemon's secrets. What it
leaves in the background is ended soon after the shell itself ends, and counted. A cancelled or
timed-out command is asked to end (SIGTERM) and killed shortly after. Never interprets a command,
never asks. Read next: environment.py, leftovers.py, sandbox.py (the same, confined).
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import anyio
from anyio.abc import Process

from singletree.errors import ToolError
from singletree.pathtext import is_folder, is_there
from singletree.tools.environment import command_environment
from singletree.tools.leftovers import MARK, Children, Command, command_of, end
from singletree.tools.world import Exit

NO_FOLDER = "The working directory does not exist: {cwd}. No command can run there."
NO_SHELL = "No shell was found on this machine (neither bash nor sh)."
NO_SUCH_SHELL = "There is no shell {path}, which shellPath in the settings names."
NOT_STARTED = "The command could not be started: {reason}"
NOT_TEXT = "The command has a NUL or half a character in it: no shell takes it so."
TOO_LONG = "The command could not be started: it is too long. Write it into a file, and run that."

IDLE = 0.1
"""A pipe that a background process holds is read until it was still for so long (seconds),"""
DRAIN = 0.4
"""but never longer than this after the shell's end."""

_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of commands: another shell, something before each of them, variables.

    `keep` and `drop` as in environment.py.
    """

    shell: str | None = None
    prefix: str | None = None
    keep: Collection[str] = ()
    drop: Collection[str] = ()


class LocalShell:
    """Commands on this machine, as the daemon's user. Implements `world.Shell`.

    `environment` is what the daemon was started with; `children` the folder where running commands
    are written down; `wishes` is asked for every command; `idle` and `drain` as above.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        children: Path | None = None,
        wishes: Callable[[], Wishes] = Wishes,
        idle: float = IDLE,
        drain: float = DRAIN,
    ) -> None:
        self._environment = environment
        self._children = Children(children)
        self._wishes = wishes
        self._idle = idle
        self._drain = drain

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        """Run to its end; after `limit` seconds it is ended. Cancelling kills the tree."""
        argv = await anyio.to_thread.run_sync(self.argv, command)
        return await self.run_argv(argv, cwd=cwd, limit=limit, on_output=on_output, env=env)

    def argv(self, command: str) -> list[str]:
        """The program that runs a command line, with its arguments. Looks at the disk."""
        wishes = self._wishes()
        if wishes.shell and not os.access(wishes.shell, os.X_OK):
            raise ToolError(NO_SUCH_SHELL.format(path=wishes.shell))
        line = f"{wishes.prefix}\n{command}" if wishes.prefix else command
        return [wishes.shell or find_shell(), "-c", line]

    async def run_argv(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        """The same for a program and its arguments, without a shell."""
        tied = await anyio.to_thread.run_sync(_tied, argv, cwd)
        mark, wishes = secrets.token_hex(8), self._wishes()
        full = command_environment(
            self._environment,
            cwd,
            keep=wishes.keep,
            drop=wishes.drop,
            extra={**(env or {}), MARK: mark},
        )
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            try:
                with anyio.CancelScope(shield=True):  # who has begun is ended by its marks
                    started = await _start(tied, cwd, full, writing)
            finally:
                os.close(writing)
            return await self._follow(started, mark, reading, limit, on_output)
        finally:
            os.close(reading)

    async def _follow(
        self,
        started: Process,
        mark: str,
        reading: int,
        limit: float | None,
        on_output: Callable[[bytes], None],
    ) -> Exit:
        """Read until the shell has ended; then nothing of it may be left."""
        known = Command(started.pid, 0, mark)
        left = 0
        record = None
        try:
            known, record = await anyio.to_thread.run_sync(self._noted, started.pid, mark)
            with anyio.move_on_after(limit) as clock:
                await self._read_to_end(started, reading, on_output)
        finally:
            with anyio.CancelScope(shield=True):
                running = started.returncode is None
                if running:
                    _terminate(started)
                left = await anyio.to_thread.run_sync(end, known)
                if running:
                    _kill(started)
                    await started.wait()
                await anyio.to_thread.run_sync(self._children.forget, record)
        if clock.cancelled_caught:
            return Exit(None, "timeout")
        code = started.returncode
        return Exit(128 - code if code is not None and code < 0 else code, "exit", left)

    def _noted(self, pid: int, mark: str) -> tuple[Command, Path | None]:
        known = command_of(pid, mark)
        return known, self._children.note(known)

    async def _read_to_end(
        self, started: Process, reading: int, on_output: Callable[[bytes], None]
    ) -> None:
        """All output until the shell ended; what a background process still says, for a moment."""
        last = anyio.current_time()
        closed = anyio.Event()

        async def read() -> None:
            nonlocal last
            while True:
                await anyio.wait_readable(reading)
                data = os.read(reading, _CHUNK)
                last = anyio.current_time()
                if not data:
                    closed.set()
                    return
                on_output(data)

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await started.wait()
            last = now = anyio.current_time()
            until = now + self._drain
            while not closed.is_set() and now < until and now - last < self._idle:
                with anyio.move_on_after(self._idle / 5):
                    await closed.wait()
                now = anyio.current_time()
            group.cancel_scope.cancel()


@lru_cache(maxsize=1)
def find_shell() -> str:
    """Bash where it is, else the plain shell."""
    for candidate in ("/bin/bash", shutil.which("bash"), "/bin/sh", shutil.which("sh")):
        if candidate and is_there(candidate):
            return candidate
    raise ToolError(NO_SHELL)


@lru_cache(maxsize=1)
def tie() -> tuple[str, ...]:
    """What a command is started through to be killed with the daemon (Linux, util-linux)."""
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


def _tied(argv: Sequence[str], cwd: Path) -> list[str]:
    if not is_folder(cwd):
        raise ToolError(NO_FOLDER.format(cwd=cwd))
    return [*tie(), *argv]


async def _start(argv: list[str], cwd: Path, env: Mapping[str, str], output: int) -> Process:
    try:
        return await anyio.open_process(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except ValueError as error:
        raise ToolError(NOT_TEXT) from error
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise ToolError(TOO_LONG) from error
        raise ToolError(NOT_STARTED.format(reason=error.strerror or str(error))) from error


def _terminate(started: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGTERM)


def _kill(started: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
