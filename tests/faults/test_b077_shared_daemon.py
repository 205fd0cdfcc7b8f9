"""The six ends of an editor that shares a daemon: its bridge goes, the daemon and the turn do not.

And the end of the daemon: its bridges go with it, its commands too.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.daemon.ends import until_alive
from tests.daemon.real import opened, prompt, settled
from tests.daemon.shared import Shared, kill, shared
from tests.rpc.client import RawClient, frame, python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SOON = 4.0
"""Twice the goal, for a machine that does other things too."""


def turns(seconds: str) -> tuple[object, ...]:
    """A turn with a command that can be told from others."""
    return (
        {"call": "bash", "args": {"command": f"echo begun; sleep {seconds}; echo ended"}},
        {"text": "Done."},
        {"loop": True},
    )


@asynccontextmanager
async def running(here: Shared) -> AsyncIterator[tuple[RawClient, str]]:
    """An editor in whose session a command runs."""
    async with here.attached() as client:
        session_id = await opened(client, here.where)
        await prompt(client, session_id, "go")
        await client.until(lambda f: f.get("params", {}).get("kind") == "toolOutput")
        yield client, session_id


async def bridge_ends(client: RawClient, seconds: float = SOON) -> int:
    begun = time.monotonic()
    code = await client.exit_code(30)
    assert time.monotonic() - begun < seconds
    return code


async def went_on(here: Shared, session_id: str, pid: int) -> None:
    """The turn was not disturbed."""
    assert here.daemon.pid == pid
    async with here.attached() as other:
        await other.call("agent/session/attach", {"sessionId": session_id})
        assert (await settled(other, session_id, 30))["lastTurn"]["reason"] == "end_turn"
        page = await other.call("agent/session/entries", {"sessionId": session_id})
        assert "ended" in str(page["entries"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
async def test_b077_a_signal_ends_the_bridge(number: signal.Signals) -> None:
    with shared(*turns("1.5"), arguments=["--mode=allowAll"]) as here:
        async with running(here) as (client, session_id):
            pid = here.daemon.pid
            assert client.process is not None
            kill(client.process.pid, number)
            await bridge_ends(client)
        await went_on(here, session_id, pid)


async def test_b077_the_editor_closes_its_end_or_says_goodbye() -> None:
    with shared(*turns("3"), arguments=["--mode=allowAll"]) as here:
        async with running(here) as (client, session_id):
            pid = here.daemon.pid
            async with here.attached() as second, here.attached() as third:
                begun = time.monotonic()
                await second.call("shutdown")
                assert time.monotonic() - begun < 1
                second.notify("exit")
                third.notify("exit")
                assert await bridge_ends(second) == 0
                assert await bridge_ends(third) == 0
            await client.eof()
            assert await bridge_ends(client) == 0
        await went_on(here, session_id, pid)


async def test_b077_the_editor_dies_and_somebody_keeps_its_pipes() -> None:
    with shared(*turns("3"), arguments=["--mode=allowAll"]) as here:
        async with running(here) as (_, session_id):
            pid = here.daemon.pid
            editor = await asyncio.create_subprocess_exec("sleep", "60")
            async with here.attached(processId=editor.pid) as orphan:
                await orphan.call("agent/session/attach", {"sessionId": session_id})
                editor.kill()
                await editor.wait()
                assert await bridge_ends(orphan, 10) == 0
        await went_on(here, session_id, pid)


async def test_b077_an_editor_that_closes_our_stdout() -> None:
    with shared(*turns("1"), arguments=["--mode=allowAll"]) as here:
        async with here.attached():
            pid = here.daemon.pid
            reading, writing = os.pipe()
            process = await asyncio.create_subprocess_exec(
                *python("-m", "singletree", "attach", *here.arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=writing,
                env={**os.environ, "PI_CODING_AGENT_DIR": str(here.where.agent_dir)},
            )
            os.close(writing)
            os.close(reading)
            assert process.stdin is not None
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
            process.stdin.write(frame(hello))
            assert await asyncio.wait_for(process.wait(), SOON) == 0
            assert here.daemon.pid == pid


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_b077_a_signal_ends_the_daemon_whole(number: signal.Signals) -> None:
    seconds = f"120.{77_000 + number}"
    with shared(*turns(seconds), arguments=["--mode=allowAll"]) as here:
        async with running(here) as (client, session_id):
            await until_alive(f"sleep {seconds}", 2)
            pid = here.daemon.pid
            kill(pid, number)
            assert await bridge_ends(client, 2 * SOON) == 1
        await until_alive(f"sleep {seconds}", 0, 4)
        assert not here.socket.exists()
        (path,) = here.where.agent_dir.glob("sessions/*/*")
        last = json.loads(path.read_bytes().splitlines()[-1])
        assert last["message"]["role"] == "toolResult"
        async with here.attached() as client:
            found = await client.call("agent/session/open", {"cwd": str(here.where.folder)}, 30)
            assert found["sessionId"] == session_id
            assert (found["state"]["phase"], found["state"]["warnings"]) == ("idle", [])
            assert here.daemon.pid != pid


async def test_b077_a_daemon_that_is_killed_leaves_no_command_behind() -> None:
    seconds = "120.77099"
    with shared(*turns(seconds), arguments=["--mode=allowAll"]) as here:
        async with running(here) as (client, session_id):
            kill(here.daemon.pid, signal.SIGKILL)
            await bridge_ends(client)
        async with here.attached() as client:
            assert await opened(client, here.where) == session_id
        await until_alive(f"sleep {seconds}", 0, 10)
