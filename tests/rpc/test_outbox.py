"""What waits to be sent: in order, few writes, bounded, and never in the loop's way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from singletree.rpc.pipes.frames import header_frame
from singletree.rpc.pipes.outbox import Limits, Outbox, TooFarBehind


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            continue


async def read(fd: int) -> bytes:
    return await asyncio.to_thread(os.read, fd, 1 << 20)


async def test_what_one_turn_of_the_loop_sends_leaves_in_one_write() -> None:
    import socket

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        outbox = Outbox(ours.fileno(), print)
        bodies = [b"%d" % n for n in range(100)]
        for body in bodies:
            outbox.put(body)
        frames = b"".join(map(header_frame, bodies))
        assert outbox.unsent == len(frames)
        assert await read(theirs.fileno()) == frames
        assert await outbox.flushed(1)
        outbox.close()


async def test_a_reader_that_stops(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    outbox = Outbox(writing, print)
    frame = b"x" * 1000
    for _ in range(2000):
        outbox.put_frame(frame)
    await asyncio.sleep(0.01)
    assert outbox.lagging
    assert not await outbox.flushed(0.01)
    got = 0
    while got < 2_000_000:
        got += len(await read(reading))
    assert await outbox.flushed(1)
    assert not outbox.lagging
    outbox.close()


async def test_lagging_ends_well_below_where_it_began(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    outbox = Outbox(writing, print, limits=Limits(lagging=500_000, recovered=100_000))
    seen = []
    for _ in range(600):
        outbox.put_frame(b"x" * 1000)
    while outbox.unsent:
        seen.append((outbox.lagging, outbox.unsent))
        await read(reading)
        await asyncio.sleep(0.001)
    assert all(lagging == (unsent > 100_000) for lagging, unsent in seen)
    outbox.close()


@pytest.mark.parametrize(("event", "limit"), [(True, 160_000), (False, 640_000)])
async def test_a_client_too_far_behind_is_given_up(
    pipe: tuple[int, int], event: bool, limit: int
) -> None:
    _, writing = pipe
    lost: list[Exception] = []
    outbox = Outbox(writing, lost.append, limits=Limits(events=160_000, total=640_000))
    sent = 0
    while not outbox.dead:
        outbox.put_frame(b"x" * 1000, event=event)
        sent += 1000
        if sent % 10_000 == 0:
            await asyncio.sleep(0.001)
    await asyncio.sleep(0)
    assert [type(error) for error in lost] == [TooFarBehind]
    assert limit <= sent <= limit + (1 << 20)
    assert outbox.unsent == 0
    outbox.put(b"no more")
    assert outbox.unsent == 0


async def test_a_reader_that_is_gone(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    lost: list[Exception] = []
    outbox = Outbox(writing, lost.append)
    os.close(reading)
    outbox.put(b"x")
    await outbox.flushed(1)
    await asyncio.sleep(0)
    assert [type(error) for error in lost] == [BrokenPipeError]
    assert outbox.dead
