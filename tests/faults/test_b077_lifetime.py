"""The process ends with its editor, soon and with the right code."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from tests.rpc.client import frame
from tests.rpc.processes import ROOT, SERVER, ends, greeted, server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_the_end_of_stdin() -> None:
    async with greeted() as client:
        client.request("example/sleep")
        await client.call("example/echo", {})
        await client.eof()
        await ends(client, 0, 4)


async def test_the_parent_dies_while_stdin_stays_open() -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "60")
    async with server() as client:
        await client.initialize(processId=parent.pid)
        await client.call("example/echo", {})
        parent.kill()
        await parent.wait()
        await ends(client, 0, 5)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
async def test_signals(number: signal.Signals, code: int) -> None:
    async with greeted() as client:
        mid = client.request("example/cleanUp")
        await client.call("example/echo", {})
        assert client.process is not None
        client.process.send_signal(number)
        await ends(client, code, 4)
        await client.answer(mid)
        assert client.notes("example/cleaned")


async def test_a_client_that_closes_our_stdout() -> None:
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *SERVER, stdin=asyncio.subprocess.PIPE, stdout=writing, cwd=ROOT
    )
    os.close(writing)
    assert process.stdin is not None
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    process.stdin.write(frame(hello))
    assert await asyncio.to_thread(os.read, reading, 1)
    os.close(reading)
    assert await asyncio.wait_for(process.wait(), 4) == 0


async def test_shutdown_and_exit() -> None:
    async with greeted() as client:
        client.request("example/sleep")
        begun = time.monotonic()
        await client.call("shutdown")
        assert time.monotonic() - begun < 1
        client.notify("exit")
        await ends(client, 0, 2)


async def test_exit_without_shutdown() -> None:
    async with greeted() as client:
        client.notify("exit")
        await ends(client, 1, 2)
