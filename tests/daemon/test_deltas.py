"""Streamed text on its way to the client: whole, in order, joined; a client that stops reading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import daemon, events, opened, place, prompt, settled, tells
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LATENCY = 0.033
DELTAS = 20_000
KIB64 = 64 << 10


def hello(latency: float = LATENCY) -> dict[str, object]:
    return {"permissions": {}, "events": {"maxLatencyMs": round(latency * 1000)}}


def numbered(count: int) -> str:
    """A text of so many different pieces of 8 characters."""
    return "".join(f"{at:07} " for at in range(count))


def deltas(client: RawClient, item_id: str) -> list[Any]:
    return [d for d in client.notes("agent/delta") if d["itemId"] == item_id]


@pytest.mark.parametrize("kind", ["text", "thinking"])
async def test_twenty_thousand_deltas(tmp_path: Path, kind: str) -> None:
    where, whole = place(tmp_path), numbered(DELTAS)
    turn = {kind: whole, "chunk": 8} | ({} if kind == "text" else {"text": "Done."})
    async with daemon(where, turn, agent=hello()) as client:
        session_id = await opened(client, where)
        begun = time.monotonic()
        await prompt(client, session_id, "go")
        await client.until(tells("item_ended"), 60)
        took = time.monotonic() - begun
        await settled(client, session_id)
        ended = next(e for e in events(client, "item_ended") if e["kind"] == kind)
        told = [d for d in deltas(client, ended["itemId"]) if d["kind"] == kind]
        assert "".join(d["text"] for d in told) == whole
        edges = [(d["from"], d["to"]) for d in told]
        assert edges[0][0] == 0 and edges[-1][1] == DELTAS
        assert all(one[1] == two[0] for one, two in pairwise(edges))
        about = [e for e in events(client) if e.get("itemId") == ended["itemId"]]
        assert len(told) <= took / LATENCY + len(whole) / KIB64 + len(about) + 1
        frames = [f for f in client.frames if f.get("method") in ("agent/event", "agent/delta")]
        kinds = [f["params"].get("event", {}).get("type", "delta") for f in frames]
        first, last = kinds.index("item_started"), kinds.index("item_ended")
        assert set(kinds[first + 1 : last]) <= {"delta", "item_started"}


async def test_a_client_that_wants_no_deltas_gets_none(tmp_path: Path) -> None:
    where = place(tmp_path)
    quiet = {"permissions": {}, "events": {"delta": False}}
    async with daemon(where, {"text": numbered(2000), "chunk": 8}, agent=quiet) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        assert client.notes("agent/delta") == []
        assert events(client, "item_ended")[0]["content"]["text"] == numbered(2000)


def resident(client: RawClient) -> int:
    """Bytes of memory the daemon has."""
    assert client.process is not None
    pages = Path(f"/proc/{client.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


@contextmanager
def not_reading(client: RawClient) -> Iterator[None]:
    """For the time of the block the client takes nothing out of the pipe."""
    assert client.process is not None
    pipe = client.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # the only way
    pipe.pause_reading()
    yield
    pipe.resume_reading()


async def test_a_client_that_stops_reading(tmp_path: Path) -> None:
    where = place(tmp_path)
    turns = (
        {"text": "Warm."},
        {"text": "12345678", "times": 200_000, "chunk": 8},
        {"text": "Afterwards."},
    )
    async with daemon(where, *turns, agent=hello()) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "warm up")
        await settled(client, session_id)
        (path,) = where.agent_dir.glob("sessions/*/*")
        before, size = resident(client), path.stat().st_size
        most = before
        with not_reading(client):
            go = {"sessionId": session_id, "content": "go"}
            asked = [client.request("agent/prompt", go)]
            asked += [client.request("agent/session/state", {"sessionId": session_id})]
            async with asyncio.timeout(90):
                while path.stat().st_size < size + 1_600_000:  # nobody tells
                    most = max(most, resident(client))
                    await asyncio.sleep(0.02)
            more = {"sessionId": session_id, "content": "more", "whenBusy": "followUp"}
            asked += [client.request("agent/prompt", more)]
            await asyncio.sleep(1)
            most = max(most, resident(client))
            assert b'"more"' in path.read_bytes() or _queued(where.agent_dir)
        answers = [await client.answer(mid, 60) for mid in asked]
        assert all("result" in answer for answer in answers)
        await settled(client, session_id, 60)
        print(f"RSS {before / 1e6:.1f} MB, at most {most / 1e6:.1f} MB")
        assert most - before < 20 << 20
        ends = [e["reason"] for e in events(client, "turn_ended")]
        assert ends == ["end_turn"] * 3
        assert [e["code"] for e in events(client, "warning")] == ["lagging"]
        told = deltas(client, events(client, "item_ended")[1]["itemId"])
        assert sum(len(d["text"]) for d in told) < 1_600_000
        numbers = [n["seq"] for n in client.notes("agent/event")]
        assert numbers == list(range(1, len(numbers) + 1))


def _queued(agent_dir: Path) -> bool:
    return any(b'"more"' in p.read_bytes() for p in (agent_dir / "singletree/queues").glob("*"))
