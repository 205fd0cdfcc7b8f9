"""A shell whose commands can write only the workspace: bubblewrap where it works, else Landlock.

Which of the two a machine has is tried out, not guessed. Never decides which command is confined.
Read next: guarantees.py (what each holds), bubblewrap.py, landlock.py, shell.py (which runs what is
wrapped here).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import anyio

from singletree.tools import bubblewrap, landlock
from singletree.tools.guarantees import Mechanism
from singletree.tools.shell import LocalShell
from singletree.tools.world import Exit

DENIED = (
    "[The sandbox may have denied this: a command that runs unasked can write only in {workspace} "
    "and in a temporary folder of its own{network}. If it needs more, call bash again with "
    "unconfined set to true: the user is asked.]"
)
NO_NETWORK = ", and has no network"

_SIGNS = (
    b"read-only file system", b"permission denied", b"operation not permitted",
    b"device or resource busy", b"no space left on device", b"erofs", b"eacces", b"eperm",
)  # fmt: skip
_NETWORK_SIGNS = (
    b"network is unreachable", b"connection refused", b"couldn't connect", b"could not connect",
    b"failed to connect", b"could not resolve host", b"name resolution",
    b"name or service not known", b"enetunreach", b"econnrefused", b"enotfound", b"eai_again",
)  # fmt: skip
"""What programs say when they are denied something."""

TEMP_SIZE = 512 * 1024 * 1024


class SandboxedShell:
    """Commands that are confined as far as this machine can. Implements `world.Shell`.

    `workspace` and `writable` are what may be changed, `hidden` what can't be read, but for what
    is `readable` in it, `guarded` what can't be changed even where it lies in what may be (by
    bubblewrap alone). `mechanism` None: the one this machine has.
    """

    def __init__(
        self,
        shell: LocalShell,
        *,
        workspace: Path,
        mechanism: Mechanism | None = None,
        network: bool = False,
        writable: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        guarded: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        temp_size: int = TEMP_SIZE,
    ) -> None:
        self._mechanism = mechanism
        self._shell = shell
        self._workspace = workspace
        self._network = network
        self._writable = tuple(writable)
        self._hidden = tuple(hidden)
        self._guarded = tuple(guarded)
        self._readable = tuple(readable)
        self._temp_size = temp_size

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        """Run to its end, confined; a denial is told in the note."""
        signs = _Signs(on_output, network=self._network)
        argv = await anyio.to_thread.run_sync(self._shell.argv, command)
        match self._mechanism or await anyio.to_thread.run_sync(find_mechanism):
            case "bubblewrap":
                ended = await self._bubblewrapped(argv, cwd, limit, signs, env)
            case "landlock":
                ended = await self._landlocked(argv, cwd, limit, signs, env)
            case "none":
                return await self._shell.run_argv(
                    argv, cwd=cwd, limit=limit, on_output=on_output, env=env
                )
        if ended.ended != "exit" or not (signs.last_word if ended.code == 0 else signs.seen):
            return ended
        network = "" if self._network else NO_NETWORK
        note = DENIED.format(workspace=self._workspace, network=network)
        return Exit(ended.code, ended.ended, ended.left, note)

    async def _bubblewrapped(
        self,
        argv: Sequence[str],
        cwd: Path,
        limit: float | None,
        signs: _Signs,
        env: Mapping[str, str] | None,
    ) -> Exit:
        around = await anyio.to_thread.run_sync(
            lambda: bubblewrap.arguments(
                self._workspace,
                writable=self._writable,
                hidden=self._hidden,
                guarded=self._guarded,
                readable=self._readable,
                network=self._network,
                temp_size=self._temp_size,
            )
        )
        return await self._shell.run_argv(
            [*around, "--chdir", str(cwd), "--", *argv],
            cwd=cwd,
            limit=limit,
            on_output=signs,
            env={"TMPDIR": "/tmp", **(env or {})},
        )

    async def _landlocked(
        self,
        argv: Sequence[str],
        cwd: Path,
        limit: float | None,
        signs: _Signs,
        env: Mapping[str, str] | None,
    ) -> Exit:
        temp = await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="singletree-"))
        try:
            around = await anyio.to_thread.run_sync(
                lambda: landlock.command(
                    [self._workspace, *self._writable, Path(temp)],
                    hidden=self._hidden,
                    readable=self._readable,
                    network=self._network,
                )
            )
            return await self._shell.run_argv(
                [*around, *argv],
                cwd=cwd,
                limit=limit,
                on_output=signs,
                env={"TMPDIR": temp, **(env or {})},
            )
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(shutil.rmtree, temp, True)


class _Signs:
    """Passes output on and notices what sounds like a denial, also across two pieces.

    `last_word`: a line ends with it behind a colon, as a program's error does: that counts even if
    all ended well, as it seems to in a pipe.
    """

    def __init__(self, on_output: Callable[[bytes], None], *, network: bool) -> None:
        self.seen = False
        self.last_word = False
        self._on_output = on_output
        self._signs = _SIGNS if network else _SIGNS + _NETWORK_SIGNS
        self._error = _last_words(self._signs)
        self._end = b""

    def __call__(self, data: bytes) -> None:
        if not self.last_word:
            text = (self._end + data).lower()
            self.seen = self.seen or any(sign in text for sign in self._signs)
            self.last_word = self.seen and self._error.search(text) is not None
            self._end = text[-128:]
        self._on_output(data)


@cache
def _last_words(signs: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """One of them as the last word of a line."""
    return re.compile(rb": (?:%b)(?: to server)?\r?\n" % b"|".join(signs))


def can_confine() -> bool:
    """Whether this machine can confine commands at all. Worker thread."""
    return find_mechanism() != "none"


@lru_cache(maxsize=1)
def find_mechanism() -> Mechanism:
    """What this machine has, tried out once. Blocks for some milliseconds: worker thread."""
    if bubblewrap.works():
        return "bubblewrap"
    return "landlock" if landlock.abi() >= 1 else "none"
