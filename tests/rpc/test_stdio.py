"""The example server as a real process: framing, start, ends, and a stdout that is ours alone."""

from __future__ import annotations

import asyncio
import os

import pytest
from tests.rpc.client import frame, python, spawned
from tests.rpc.processes import ROOT, SERVER, ends, greeted, server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_a_message_that_is_too_large_and_one_that_is_not() -> None:
    async with greeted() as client:
        client.request("example/length", {"text": "x" * (33 << 20)}, mid="large")
        error = (await client.answer("large", 30))["error"]
        assert (error["code"], error["data"]["code"]) == (-32600, "message_too_large")
        assert await client.call("example/length", {"text": "x" * (31 << 20)}, 30) == 31 << 20
        assert len(await client.call("example/big", {"n": 8 << 20}, 30)) == 8 << 20


async def test_shutdown_that_takes_too_long_is_answered_all_the_same() -> None:
    async with greeted(EXAMPLE_SHUTDOWN="60") as client:
        await client.call("shutdown", seconds=6)
        client.notify("exit")
        await ends(client, 0, 2)


async def test_the_end_of_stdin_before_a_word() -> None:
    async with server() as client:
        await client.eof()
        await ends(client, 0, 4)


async def test_a_task_that_will_not_end_cannot_keep_the_process() -> None:
    async with greeted() as client:
        client.request("example/hang")
        await client.call("example/echo", {})
        await client.eof()
        await ends(client, 0, 6)


async def test_a_parent_that_cannot_be_seen_is_not_watched() -> None:
    async with server() as client:
        await client.initialize(processId=2**22 + 1)
        await asyncio.sleep(0.3)
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}


async def test_a_pipe_that_does_not_block() -> None:
    """Some hosts hand over descriptors in non-blocking mode."""
    set_up = "import os, sys; os.set_blocking(0, False); os.set_blocking(1, False);"
    go_on = "os.execv(sys.argv[1], sys.argv[1:])"
    async with server(*python("-c", set_up + go_on), *SERVER) as client:
        await client.initialize()
        await asyncio.sleep(0.1)
        assert len(await client.call("example/big", {"n": 1 << 20})) == 1 << 20


async def test_a_client_that_stops_reading_stops_nobody_else() -> None:
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *SERVER, stdin=asyncio.subprocess.PIPE, stdout=writing, cwd=ROOT
    )
    os.close(writing)
    assert process.stdin is not None
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    process.stdin.write(frame(hello))
    for mid in range(2, 40):
        params = {"n": 1 << 20}
        process.stdin.write(
            frame({"jsonrpc": "2.0", "id": mid, "method": "example/big", "params": params})
        )
    process.stdin.write(frame({"jsonrpc": "2.0", "method": "exit"}))
    assert await asyncio.wait_for(process.wait(), 6) == 1
    os.close(reading)


async def test_the_first_answer_does_not_wait_for_the_rest() -> None:
    """What is asked in one breath with `initialize` is answered when all is loaded."""
    async with server() as client:
        hello = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {}}
        echo = {"jsonrpc": "2.0", "id": "e", "method": "example/echo", "params": {"x": 1}}
        client.raw(frame(hello) + frame(echo) + frame(hello | {"id": "again"}))
        await client.answer("e")
        await client.answer("again")
        assert [f["id"] for f in client.frames] == ["i", "e", "again"]
        assert client.answers("again")[0]["error"]["code"] == -32600


@pytest.mark.parametrize("params", [[], 7, None])
async def test_a_faulty_initialize_first(params: object) -> None:
    async with server() as client:
        mid = client.request("initialize", params)
        assert (await client.answer(mid))["error"]["code"] == -32602
        await client.initialize()


async def test_a_log_that_nobody_reads() -> None:
    reading, writing = os.pipe()
    async with spawned(*SERVER, cwd=ROOT, stderr=writing) as client:
        os.close(writing)
        await client.initialize()
        await client.call("example/chatter", {"n": 5000})
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}
        await client.eof()
        await ends(client, 0, 4)
        os.set_blocking(reading, False)
        first = os.read(reading, 100)
    os.close(reading)
    assert b"WARNING example: 0 xxx" in first
