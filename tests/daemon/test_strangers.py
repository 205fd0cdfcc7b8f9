"""What comes to the shared daemon's socket and is no editor: it costs nothing that stays."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from pathlib import Path

import pytest
from tests.daemon.real import opened, prompt, settled
from tests.daemon.shared import Shared, connected, shared
from tests.rpc.client import RawClient, frame

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HI = ({"text": "Hello."}, {"loop": True})
HELLO = frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
STATE = frame({"jsonrpc": "2.0", "id": 2, "method": "agent/session/list", "params": {}})
STRANGE = (
    random.Random(3).randbytes(5000),
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01" * 2000,
    b"Content-Length: 10\r\n\r\n",
    b"Content-Length: 99999999999\r\n\r\n",
    b"{}\n" * 1000,
    HELLO[:-1],
    HELLO + STATE * 70,
    b"",
)


def held(here: Shared) -> tuple[int, int]:
    """Descriptors and threads of the daemon."""
    process = Path(f"/proc/{here.daemon.pid}")
    return len(os.listdir(process / "fd")), len(os.listdir(process / "task"))  # noqa: PTH208


def stays_small(here: Shared, before: tuple[int, int]) -> None:
    """Nothing is left but the workers that file work is given to, of which there are 40."""
    descriptors, threads = held(here)
    assert descriptors <= before[0] + 8
    assert threads <= before[1] + 48


async def until_only(here: Shared, count: int) -> None:
    """Wait until so many clients are left."""
    async with asyncio.timeout(30):
        while here.daemon.clients != count:  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(0.02)


async def strangers(here: Shared, count: int) -> list[socket.socket]:
    """So many connections; each waits its turn, which a socket that does not block would not."""

    def come() -> socket.socket:
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(str(here.socket))
        return stranger

    return [await asyncio.to_thread(come) for _ in range(count)]


async def still_serves(client: RawClient, session_id: str) -> None:
    await prompt(client, session_id, "hi")
    assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"


async def test_strange_bytes_and_sudden_ends() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            before = held(here)
            for number in range(5 * len(STRANGE)):
                _, writer = await asyncio.open_unix_connection(str(here.socket))
                writer.write(STRANGE[number % len(STRANGE)])
                if number % 2:
                    writer.transport.abort()
                else:
                    writer.close()
            await still_serves(one, session_id)
            await until_only(here, 1)
            stays_small(here, before)
            assert "Traceback" not in here.log


async def test_two_hundred_who_say_nothing_and_more_than_there_is_room_for() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            before = held(here)
            silent = await strangers(here, 200)
            await until_only(here, 201)
            talker = await connected(here.socket)
            assert await talker.call("agent/session/list", {})
            await talker.close()
            more = await strangers(here, 100)
            assert await asyncio.wait_for(asyncio.to_thread(more[-1].recv, 1), 10) == b""
            await still_serves(one, session_id)
            for stranger in (*silent, *more):
                stranger.close()
            await until_only(here, 1)
            stays_small(here, before)


async def test_who_closes_one_direction_gets_its_answers() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            await opened(one, here.where)
            reader, writer = await asyncio.open_unix_connection(str(here.socket))
            writer.write(HELLO + STATE)
            writer.write_eof()
            answers = await asyncio.wait_for(reader.read(), 10)
            assert answers.count(b"Content-Length: ") == 2
            writer.close()
            deaf = socket.socket(socket.AF_UNIX)
            deaf.connect(str(here.socket))
            deaf.sendall(HELLO)
            deaf.shutdown(socket.SHUT_RD)
            deaf.sendall(STATE * 3)
            await until_only(here, 1)
            deaf.close()


async def test_a_folder_that_is_deleted_costs_no_conversation() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            first = here.daemon.pid
            for path in here.socket.parent.iterdir():
                path.unlink()
            here.socket.parent.rmdir()
            await still_serves(one, session_id)
            async with here.attached() as two:
                await two.call("agent/session/open", {"cwd": str(here.where.folder)}, 30)
                assert here.daemon.pid != first
            await still_serves(one, session_id)
            os.kill(first, 15)
            await one.exit_code()
        assert here.socket.exists()
