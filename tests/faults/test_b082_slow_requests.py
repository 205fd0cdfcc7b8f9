"""Whatever is slow, others are answered at once; what is cancelled while it waits is never run."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, bash, is_summary, provided, says
from tests.daemon.real import Place, daemon, opened, place, prompt, settled, text, until
from tests.daemon.shared import EITHER, Serving
from tests.history.made import encoded, header, said
from tests.model.fake_server import Piece, Reply, Seen, chat
from tests.rpc.client import Message, RawClient, frame

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

QUICK = 0.4
"""Seconds. The goal is 0.1 on an idle machine; this one runs other tests meanwhile."""
WORD: list[Piece] = [chat({"content": "a word "}, finish=None), 0.01]
SLOW = Reply(WORD * 1500)


async def quick(client: RawClient, session_id: str, what: str) -> None:
    """State, steer and abort are answered while something slow goes on; the best of three."""
    for method, params in (
        ("agent/session/state", {}),
        ("agent/tree/get", {}),
        ("agent/queue/list", {}),
        ("agent/steer", {"content": text("S"), "whenIdle": "queue"}),
        ("agent/abort", {"scope": "retry"}),
    ):
        took = []
        for _ in range(3):
            begun = time.monotonic()
            answer = client.request(method, {"sessionId": session_id, **params})
            await client.answer(answer, 30)
            took.append(time.monotonic() - begun)
        assert min(took) < QUICK, f"{method} while {what}: {took}"


async def stop(client: RawClient, session_id: str, what: str) -> None:
    begun = time.monotonic()
    await client.call("agent/abort", {"sessionId": session_id, "queue": "drop"}, 30)
    assert time.monotonic() - begun < 2, f"the abort while {what}"


def slow(seen: Seen) -> Reply:
    words = str(seen.body["messages"][-1]["content"])
    if is_summary(seen) or "stream" in words:
        return SLOW
    return Reply([bash("sleep 30") if "tool" in words else says("word " * 100)])


@EITHER
async def test_b082_while_a_turn_streams_and_a_tool_runs(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    yes = ("--mode", "allowAll")
    async with provided(where, slow), daemon(where, model=MODEL, arguments=yes) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "stream")
        await client.until(lambda f: f.get("method") == "agent/delta", 30)
        await quick(client, session_id, "a turn streams")
        await stop(client, session_id, "a turn streams")
        await prompt(client, session_id, "tool")
        await until(client, "tool", "running")
        await quick(client, session_id, "a tool runs")
        await stop(client, session_id, "a tool runs")


async def test_b082_while_a_summary_is_made(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(compaction={"keepRecentTokens": 10})
    async with provided(where, slow), daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        for _ in range(2):
            await prompt(client, session_id, "hello")
            await settled(client, session_id)
        compacting = client.request("agent/compact", {"sessionId": session_id})
        await client.until(lambda f: "'summary'" in str(f), 30)
        await quick(client, session_id, "a summary is made")
        client.notify("$/cancelRequest", {"id": compacting})
        assert (await client.answer(compacting, 2))["error"]["code"] == -32800


def large(where: Place) -> str:
    """A session of 100 MB with many branches; its id."""
    chance = random.Random(7)
    folder = where.agent_dir / "sessions" / "--large--"
    folder.mkdir(parents=True)
    with (folder / "large.jsonl").open("wb") as out:
        out.write(encoded(header(id="large-one", cwd=str(where.folder))))
        body = "x" * 300
        for at in range(200_000):
            parent = f"{chance.randrange(max(0, at - 300), at):08x}" if at else None
            line = said(f"{at:08x}", parent, body)
            out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return "large-one"


async def test_b082_while_a_large_session_opens(tmp_path: Path) -> None:
    where = place(tmp_path)
    big = await asyncio.to_thread(large, where)
    async with provided(where, slow), daemon(where, model=MODEL) as client:
        first = (await client.call("agent/session/new", {"cwd": str(where.folder)}))["sessionId"]
        await prompt(client, first, "stream")
        opening = client.request("agent/session/open", {"sessionId": big})
        await asyncio.sleep(0.05)
        await quick(client, first, "a large session opens")
        found = await client.answer(opening, 60)
        assert found["result"]["state"]["counts"]["entries"] == 200_000
        await quick(client, big, "a large session is there")
        await stop(client, first, "a large session is there")


@asynccontextmanager
async def ready(tmp_path: Path, daemon: Serving) -> AsyncIterator[tuple[RawClient, str]]:
    where = place(tmp_path)
    async with daemon(where, {"parts": [{"text": "x"}, {"wait": 60}]}) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "wait")
        yield client, session_id


@EITHER
async def test_b082_thirty_waits_and_thirty_cancels(tmp_path: Path, daemon: Serving) -> None:
    async with ready(tmp_path, daemon) as (client, session_id):
        await _ask_and_cancel(client, "agent/session/wait", {"sessionId": session_id})
        state = await client.call("agent/session/state", {"sessionId": session_id})
        assert state["phase"] == "running"


@EITHER
async def test_b082_what_is_cancelled_before_its_turn_is_not_done(
    tmp_path: Path, daemon: Serving
) -> None:
    async with ready(tmp_path, daemon) as (client, session_id):
        later = {"sessionId": session_id, "content": text("never")}
        await _ask_and_cancel(client, "agent/followUp", later)
        queue = await client.call("agent/queue/list", {"sessionId": session_id})
        assert queue["items"] == []


async def _ask_and_cancel(client: RawClient, method: str, params: Message) -> None:
    """Thirty requests and, in the same write, a cancel of each, and of two that are not there."""
    ids = [f"r{n}" for n in range(30)]
    asked = [{"jsonrpc": "2.0", "id": mid, "method": method, "params": params} for mid in ids]
    cancels = [
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": mid}}
        for mid in [*ids, "unknown", 7]
    ]
    client.raw(b"".join(map(frame, [*asked, *cancels])))
    for mid in ids:
        assert (await client.answer(mid, 30))["error"]["code"] == -32800
        assert len(client.answers(mid)) == 1
