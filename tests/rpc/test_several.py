"""Several clients of one process, each over its own socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.rpc.client import RawClient

from singletree.rpc.connection import Door
from singletree.rpc.doors.serve import serve_socket
from singletree.rpc.peer import Peer
from singletree.rpc.routes import Call, Route
from singletree.rpc.telling.feed import Feed


class House:
    """A door on one feed, and who came and went."""

    def __init__(self) -> None:
        self.feed = Feed("s")
        self.gone: list[Peer] = []
        self.door = Door({"x/listen": Route(None, self.listen)}, closed=self.gone.append)
        self.serving: list[asyncio.Task[None]] = []

    def listen(self, params: object, call: Call) -> object:
        attached = self.feed.attach(call.peer.outbox, call.peer.client.delivery)
        call.after_reply(attached.subscription.release)
        return attached.cursor.seq

    @asynccontextmanager
    async def client(self, agent: object = None) -> AsyncIterator[RawClient]:
        ours, theirs = socket.socketpair()
        serving = asyncio.ensure_future(serve_socket(self.door, ours))
        self.serving.append(serving)
        reader, writer = await asyncio.open_unix_connection(sock=theirs, limit=1 << 26)
        client = RawClient(reader, writer)
        await client.initialize(agent)
        await client.call("x/listen")
        yield client
        await client.close()
        await asyncio.wait({serving}, timeout=5)


async def test_all_hear_the_same() -> None:
    house = House()
    async with house.client() as one, house.client({"events": {"delta": False}}) as two:
        house.feed.emit_delta("i", "text", 0, 0, "a")
        house.feed.emit_event({"type": "settled"})
        for client in (one, two):
            await client.until(lambda f: f.get("method") == "agent/event")
        assert one.notes("agent/event") == two.notes("agent/event")
        assert (len(one.notes("agent/delta")), len(two.notes("agent/delta"))) == (1, 0)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_one_that_leaves_takes_nobody_along() -> None:
    house = House()
    before = open_descriptors()
    async with house.client() as one:
        async with house.client() as two:
            assert await two.call("shutdown") is None
            two.notify("exit")
            await asyncio.wait_for(house.serving[1], 5)
        async with house.client():
            pass
        await asyncio.wait_for(house.serving[2], 5)
        assert len(house.gone) == 2
        house.feed.emit_event({"type": "settled"})
        await one.until(lambda f: f.get("method") == "agent/event")
    await asyncio.wait_for(house.serving[0], 5)
    assert open_descriptors() == before


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_one_that_does_not_read_slows_nobody() -> None:
    house = House()
    every_piece = {"events": {"maxLatencyMs": 0}}
    async with house.client() as quick:
        ours, theirs = socket.socketpair()
        slow = asyncio.ensure_future(serve_socket(house.door, ours))
        reader, writer = await asyncio.open_unix_connection(sock=theirs, limit=1 << 26)
        stalled = RawClient(reader, writer)
        await stalled.initialize(every_piece)
        await stalled.call("x/listen")
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's has it
        for chunk in range(100_000):
            house.feed.emit_delta("i", "text", 0, chunk, "some text ")
            if chunk % 100 == 0:
                await asyncio.sleep(0)
        house.feed.emit_event({"type": "item_ended"})
        await quick.until(lambda f: f.get("params", {}).get("event", {}) == {"type": "item_ended"})
        text = "".join(d["text"] for d in quick.notes("agent/delta"))
        assert text == "some text " * 100_000
        for _ in range(40):
            house.feed.emit_event({"type": "entry", "text": "x" * (1 << 19)})
            await asyncio.sleep(0.01)
        await asyncio.wait_for(slow, 10)
        assert len(house.gone) == 1
        await quick.until(lambda f: f.get("params", {}).get("seq") == 42)
        await stalled.close()
