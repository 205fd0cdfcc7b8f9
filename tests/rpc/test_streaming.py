"""Streams through a real process: whole and few for who reads, bounded for who does not."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import frame, python, spawned

from singletree.rpc.limits import MAX_DELTA

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
SERVER = python("-m", "tests.rpc.start")


def request(mid: int, method: str, params: object = None) -> bytes:
    return frame({"jsonrpc": "2.0", "id": mid, "method": method, "params": params or {}})


async def test_twenty_thousand_deltas_are_whole_and_few() -> None:
    async with spawned(*SERVER, cwd=ROOT) as client:
        await client.initialize({"events": {"maxLatencyMs": 33}})
        await client.call("example/listen")
        begun = time.monotonic()
        await client.call("example/stream", {"n": 20_000}, 60)
        took = time.monotonic() - begun
        deltas = client.notes("agent/delta")
        assert [d["from"] for d in deltas] == [0, *(d["to"] for d in deltas[:-1])]
        text = "".join(d["text"] for d in deltas)
        assert text == "".join(f"piece {chunk}, " for chunk in range(20_000))
        assert len(deltas) <= 1 + took / 0.033 + len(text) / MAX_DELTA + 1
        last = client.frames[-2:]
        assert [f.get("method", "reply") for f in last] == ["agent/event", "reply"]


async def test_a_stalled_reader_costs_bounded_memory_and_nobody_else() -> None:
    """Nobody reads while 200,000 deltas go out at once; then all that counts has come."""
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *SERVER, stdin=asyncio.subprocess.PIPE, stdout=writing, cwd=ROOT
    )
    os.close(writing)
    assert process.stdin is not None
    options = {"agent": {"events": {"maxLatencyMs": 0}}}
    process.stdin.write(request(1, "initialize", {"initializationOptions": options}))
    process.stdin.write(request(2, "example/listen") + request(3, "example/memory"))
    process.stdin.write(request(4, "example/stream", {"n": 200_000}))
    process.stdin.write(request(5, "example/echo"))
    sizes: list[int] = []
    for _ in range(500):
        sizes.append(resident(process.pid))
        await asyncio.sleep(0.01)
    process.stdin.close()
    data = await asyncio.to_thread(read_all, reading)
    frames = split(data)
    answers: dict[int, Any] = {f["id"]: f for f in frames if "id" in f}
    assert sorted(answers) == [1, 2, 3, 4, 5]
    before = answers[3]["result"] >> 10
    print(f"before {before} MB, at most {max(sizes)} MB")
    assert max(sizes) - before <= 20
    events = [f["params"]["event"] for f in frames if f.get("method") == "agent/event"]
    assert [e.get("code", e["type"]) for e in events] == ["lagging", "item_ended"]
    deltas = [f["params"] for f in frames if f.get("method") == "agent/delta"]
    assert 0 < len(deltas) < 200_000
    assert all(d["to"] > d["from"] for d in deltas)
    assert await asyncio.wait_for(process.wait(), 10) == 0


def resident(pid: int) -> int:
    """Megabytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20


def read_all(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        return file.read()


def split(data: bytes) -> list[dict[str, Any]]:
    frames = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.removeprefix(b"Content-Length: "))
        frames.append(json.loads(rest[:length]))
        data = rest[length:]
    return frames
