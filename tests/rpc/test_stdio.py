"""The example server as a real process: framing, start, ends, and a stdout that is ours alone."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.rpc.client import RawClient, frame, python, spawned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

ROOT = Path(__file__).parents[2]
SERVER = python("-m", "tests.rpc.example")


@asynccontextmanager
async def server(*argv: str, **env: str) -> AsyncIterator[RawClient]:
    async with spawned(*(argv or SERVER), cwd=ROOT, env=env) as client:
        yield client


@asynccontextmanager
async def greeted(**env: str) -> AsyncIterator[RawClient]:
    async with server(**env) as client:
        await client.initialize()
        yield client


async def test_each_id_gets_exactly_one_answer() -> None:
    async with server() as client:
        early = client.request("agent/prompt", {}, mid="early")
        await client.answer(early)
        await client.initialize()
        client.request("agent/prompt", mid="no params")
        client.request("agent/prompt", None, mid="null")
        client.request("agent/prompt", [], mid="array")
        client.request("agent/prompt", {"sessionId": 1, "content": "x"}, mid="types")
        client.request("agent/prompt", {"sessionId": "s", "content": [{}]}, mid="nested")
        client.request("agent/unknown", {}, mid="unknown")
        client.request("textDocument/hover", {"position": 3}, mid="lsp")
        client.raw(b'Content-Length: 11\r\n\r\n{"jsonrpc":')
        client.send([{"jsonrpc": "2.0", "id": "in batch", "method": "example/echo"}])
        client.raw(b"Content-Length: abc\r\n\r\n" + frame(0)[22:])
        client.request("example/sleep", {"s": 0.1}, mid="twice")
        client.request("example/sleep", {"s": 0.1}, mid="twice")
        client.request("example/echo", {"x": 1}, mid="good")
        await client.answer("twice")
        await client.answer("lsp")
        codes = {f["id"]: f["error"]["code"] for f in client.frames if "error" in f and f["id"]}
        assert codes == {
            "early": -32002,
            "no params": -32602,
            "null": -32602,
            "array": -32602,
            "types": -32602,
            "nested": -32602,
            "unknown": -32601,
            "lsp": -32602,
            "in batch": -32600,
        }
        without = [f["error"]["code"] for f in client.answers(None)]
        assert sorted(without) == [-32700, -32600, -32600]
        assert client.answers("good")[0]["result"] == {"x": 1}
        ids = [f["id"] for f in client.frames if f.get("id") is not None]
        assert len(ids) == len(set(ids))


async def test_nothing_but_frames_on_stdout() -> None:
    async with greeted() as client:
        assert await client.call("example/stray") == {"child read": 0}
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}
        assert client.broken is None


async def test_separators_inside_texts() -> None:
    async with greeted() as client:
        text = "a\u2028b\u2029c\u0085d\x0ce"
        assert await client.call("example/echo", {"x": text}) == {"x": text}


async def test_a_message_that_is_too_large_and_one_that_is_not() -> None:
    async with greeted() as client:
        client.request("example/length", {"text": "x" * (33 << 20)}, mid="large")
        error = (await client.answer("large", 30))["error"]
        assert (error["code"], error["data"]["code"]) == (-32600, "message_too_large")
        assert await client.call("example/length", {"text": "x" * (31 << 20)}, 30) == 31 << 20
        assert len(await client.call("example/big", {"n": 8 << 20}, 30)) == 8 << 20


async def ends(client: RawClient, code: int, seconds: float) -> None:
    begun = time.monotonic()
    assert await client.exit_code() == code
    assert time.monotonic() - begun < seconds


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


async def test_shutdown_that_takes_too_long_is_answered_all_the_same() -> None:
    async with greeted(EXAMPLE_SHUTDOWN="60") as client:
        await client.call("shutdown", seconds=6)
        client.notify("exit")
        await ends(client, 0, 2)


async def test_the_end_of_stdin() -> None:
    async with greeted() as client:
        client.request("example/sleep")
        await client.call("example/echo", {})
        await client.eof()
        await ends(client, 0, 4)


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
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


async def test_the_parent_dies_while_stdin_stays_open() -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "60")
    async with server() as client:
        await client.initialize(processId=parent.pid)
        await client.call("example/echo", {})
        parent.kill()
        await parent.wait()
        await ends(client, 0, 5)


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
