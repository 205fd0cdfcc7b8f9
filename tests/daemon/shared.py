"""The real shared daemon, and editors that come to it through `singletree attach`."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import HELLO, Place, allow, daemon, place
from tests.rpc.client import RawClient, python, spawned

from singletree.host.doorbell import Holder, holder
from singletree.host.places import shared_socket

Join = Callable[..., AbstractAsyncContextManager[RawClient]]


@dataclass
class Shared:
    """One person's machine. `arguments`: of every `attach`."""

    where: Place
    arguments: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def socket(self) -> Path:
        return shared_socket({"PI_CODING_AGENT_DIR": str(self.where.agent_dir)})

    @property
    def log(self) -> str:
        """What the daemon has logged."""
        return self.socket.with_suffix(".log").read_text("utf-8")

    @property
    def daemon(self) -> Holder:
        """The daemon that runs."""
        there = holder(self.socket)
        assert there is not None, "no shared daemon runs"
        return there

    @asynccontextmanager
    async def attached(
        self, hello: object = HELLO, *arguments: str, **initialize: Any
    ) -> AsyncIterator[RawClient]:
        """An editor, which has said hello unless that is None."""
        command = python("-m", "singletree", "attach", *self.arguments, *arguments)
        env = {"PI_CODING_AGENT_DIR": str(self.where.agent_dir), **self.env}
        async with spawned(*command, env=env, cwd=self.where.root) as client:
            if hello is not None:
                await client.initialize(hello, **initialize)
            yield client


@asynccontextmanager
async def through_attach(
    where: Place,
    *turns: object,
    arguments: Sequence[str] = (),
    agent: object = ...,
    model: str | None = None,
    folders: object = None,
    **initialize: Any,
) -> AsyncIterator[RawClient]:
    """As real.py's `daemon`, but through a bridge to a shared one, which ends with the test."""
    ref = f"scripted:{where.script(*turns)}" if model is None else model
    with tempfile.TemporaryDirectory(prefix="shared-") as root:
        socket = Path(root) / "run" / "d.sock"
        command = python("-m", "singletree", "attach", f"--listen=unix://{socket}", *arguments)
        given = {"PI_CODING_AGENT_DIR": str(where.agent_dir)}
        try:
            async with spawned(*command, f"--model={ref}", env=given, cwd=where.root) as client:
                client.reactions["agent/permission/request"] = allow
                said = HELLO if agent is ... else agent
                await client.initialize(said, workspaceFolders=folders, **initialize)
                yield client
        finally:
            end(socket)


Serving = Callable[..., AbstractAsyncContextManager[RawClient]]
EITHER = pytest.mark.parametrize("daemon", [daemon, through_attach], ids=["own", "shared"])
"""A test that holds for a daemon of one's own and for the shared one alike."""


@contextmanager
def shared(*turns: object, arguments: Sequence[str] = ()) -> Iterator[Shared]:
    """A machine with a short path, for a socket's is bounded; its daemon is ended at the end."""
    with tempfile.TemporaryDirectory(prefix="shared-") as root:
        where = place(Path(root))
        where.agent_dir.mkdir()
        model = f"--model=scripted:{where.script(*turns)}"
        made = Shared(where, (model, *arguments))
        try:
            yield made
        finally:
            end(made.socket)


def end(socket: Path) -> None:
    """End whoever listens there, and wait for it."""
    if (there := holder(socket)) is None:
        return
    kill(there.pid, signal.SIGKILL)
    until = time.monotonic() + 10
    while holder(socket) is not None and time.monotonic() < until:
        time.sleep(0.02)


def kill(pid: int, number: signal.Signals) -> None:
    """Send a signal to one process that a test started."""
    assert pid > 1
    os.kill(pid, number)


async def connected(path: Path, hello: object = HELLO) -> RawClient:
    """A client that needs no bridge: it opens the socket itself."""
    reader, writer = await asyncio.open_unix_connection(str(path), limit=1 << 26)
    client = RawClient(reader, writer)
    await client.initialize(hello)
    return client
