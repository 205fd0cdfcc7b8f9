"""The six ways a daemon ends in the middle of a turn: soon, whole, and with nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.daemon.ends import alive, ends, until_alive
from tests.daemon.provider import MODEL, bash, provided
from tests.daemon.real import Place, daemon, opened, place, prompt
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SLEEP = "sleep 177.77"


@asynccontextmanager
async def in_a_turn(tmp_path: Path, pid: int | None = None) -> AsyncIterator[RawClient]:
    """A daemon whose turn runs a command with a child of its own; afterwards all is looked at."""
    where = place(tmp_path)
    async with provided(where, [bash(f"{SLEEP} & {SLEEP}")]):
        yes = ("--mode", "allowAll")
        mine = os.getpid() if pid is None else pid
        async with daemon(where, model=MODEL, arguments=yes, processId=mine) as client:
            session_id = await opened(client, where)
            await prompt(client, session_id, "remember me")
            await until_alive(SLEEP, 3)
            yield client
            assert client.process is not None
            assert client.process.returncode is not None
        await until_alive(SLEEP, 0, 2)
        assert alive(SLEEP) == []
        whole(where)


def whole(where: Place) -> None:
    """The file holds the prompt, the call and its one result, each on a line that parses."""
    (path,) = where.agent_dir.glob("sessions/*/*")
    content = path.read_bytes()
    assert content.endswith(b"\n")
    entries = [json.loads(line) for line in content.splitlines()]
    roles = [e["message"]["role"] for e in entries if e["type"] == "message"]
    assert roles == ["user", "assistant", "toolResult"]
    assert list((where.agent_dir / "singletree" / "locks").iterdir()) == []


async def test_b077_the_end_of_stdin(tmp_path: Path) -> None:
    async with in_a_turn(tmp_path) as client:
        await client.eof()
        await ends(client, 0, 4)


async def test_b077_the_parent_dies_while_stdin_stays_open(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "60")
    async with in_a_turn(tmp_path, parent.pid) as client:
        parent.kill()
        await parent.wait()
        await ends(client, 0, 10)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_b077_a_signal(tmp_path: Path, number: signal.Signals, code: int) -> None:
    async with in_a_turn(tmp_path) as client:
        assert client.process is not None
        client.process.send_signal(number)
        await ends(client, code, 4)


async def test_b077_stdout_is_closed(tmp_path: Path) -> None:
    async with in_a_turn(tmp_path) as client:
        assert client.process is not None
        transport = client.process._transport  # type: ignore[attr-defined]  # asyncio has no other way
        transport.get_pipe_transport(1).close()
        await ends(client, 0, 4)


async def test_b077_shutdown_and_exit(tmp_path: Path) -> None:
    async with in_a_turn(tmp_path) as client:
        begun = asyncio.get_running_loop().time()
        assert await client.call("shutdown") is None
        assert asyncio.get_running_loop().time() - begun < 4
        client.notify("exit")
        await ends(client, 0, 4)


async def test_b077_exit_without_shutdown(tmp_path: Path) -> None:
    async with in_a_turn(tmp_path) as client:
        client.notify("exit")
        await ends(client, 1, 4)
