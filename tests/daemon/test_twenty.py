"""Twenty editors on one session, one of them stopped: nobody misses anything, nobody waits."""

from __future__ import annotations

import signal
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.daemon.mirror import Mirror, come_back
from tests.daemon.real import HELLO, prompt, tells
from tests.daemon.shared import Shared, connected, kill, shared
from tests.rpc.client import Message, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

TURNS = (
    {"text": "abcd efgh ", "times": 40_000, "chunk": 10},
    {"call": "bash", "args": {"command": "seq 3000"}},
    {"text": "ijkl mnop ", "times": 40_000, "chunk": 10},
    {"loop": True},
)
CLIENTS = 20


async def test_one_that_stands_still_costs_the_others_nothing() -> None:
    with shared(*TURNS, arguments=["--mode=allowAll"]) as here:
        alone = await _run(here, 1)
        many = await _run(here, CLIENTS)
        print(
            f"a run with one client: {alone:.2f} s; with {CLIENTS}, one of them stopped: "
            f"{many:.2f} s ({many / alone:.1f} times)"
        )


async def _run(here: Shared, count: int) -> float:
    """Three turns heard by so many; with more than one, another is stopped. Seconds of the run."""
    async with AsyncExitStack() as stack:
        starter = await stack.enter_async_context(here.attached())
        started = await starter.call("agent/session/new", {"cwd": str(here.where.folder)})
        session_id = started["sessionId"]
        clients = [
            await connected(here.socket, HELLO | {"clientId": f"c{n}"}) for n in range(count)
        ]
        for client in clients:
            stack.push_async_callback(client.close)
        mirrors = [Mirror() for _ in clients]
        starts = [
            await come_back(client, mirror, session_id)
            for client, mirror in zip(clients, mirrors, strict=True)
        ]
        stopped = Mirror(all_deltas=False)
        behind = await come_back(starter, stopped, session_id)
        assert starter.process is not None
        if count > 1:
            kill(starter.process.pid, signal.SIGSTOP)
        for turn in range(2):
            await prompt(clients[0], session_id, f"turn {turn}")
            await _settled(clients[0], turn + 1)
        for client in clients:
            await _settled(client, 2)
        for client, mirror, start in zip(clients, mirrors, starts, strict=True):
            mirror.follow(client.frames[start:])
        _all_heard_the_same(mirrors)
        kill(starter.process.pid, signal.SIGCONT)
        await _settled(starter, 2)
        stopped.follow(starter.frames[behind:])
        assert stopped.events == mirrors[0].events
        assert stopped.whole == mirrors[0].whole
        if count > 1:
            assert "lagging" in [e.get("code") for e in stopped.events]
            assert stopped.deltas < mirrors[0].deltas
        await clients[0].call("agent/session/close", {"sessionId": session_id})
        return _seconds(clients[0])


def _all_heard_the_same(mirrors: list[Mirror]) -> None:
    first = mirrors[0]
    assert first.types().count("turn_ended") == 2
    assert {len(text) for text in first.whole.values()} == {400_000}
    for mirror in mirrors:
        assert mirror.events == first.events
        assert mirror.texts == first.texts
        assert mirror.whole == first.whole


async def _settled(client: RawClient, count: int) -> None:
    def enough(frame: Message) -> bool:
        return tells("settled")(frame) and _count(client) >= count

    await client.until(enough, 120, f"{count} settled turns")


def _count(client: RawClient) -> int:
    return sum(1 for frame in client.frames if tells("settled")(frame))


def _seconds(client: RawClient) -> float:
    """How long the daemon took from the first start of a turn to the last end of one."""
    notes: list[Any] = client.notes("agent/event")
    begun = next(n["ts"] for n in notes if n["event"]["type"] == "turn_started")
    ended = [n["ts"] for n in notes if n["event"]["type"] == "turn_ended"][-1]
    return float(ended - begun) / 1000
