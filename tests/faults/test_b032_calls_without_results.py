"""Stopped or killed while a tool runs: each call has one result, and the session goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, Replies, asked, bash, provided, says
from tests.daemon.real import Place, daemon, opened, place, prompt, settled, until
from tests.model.fake_server import Reply, Seen
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

YES = ("--mode", "allowAll")


def stored(where: Place) -> list[tuple[str, str]]:
    """What the file holds of calls and results, in order."""
    (path,) = where.agent_dir.glob("sessions/*/*")
    found: list[tuple[str, str]] = []
    for line in path.read_bytes().splitlines():
        message = json.loads(line).get("message", {})
        if message.get("role") == "toolResult":
            found.append(("result", message["toolCallId"]))
        elif message.get("role") == "assistant":
            found += [("call", b["id"]) for b in message["content"] if b["type"] == "toolCall"]
    return found


def answers(*commands: str) -> Replies:
    def answer(seen: Seen) -> Reply:
        return Reply([bash(*commands) if asked(seen)[-1] == "user: go" else says("hello")])

    return answer


async def says_hi(client: RawClient, session_id: str) -> None:
    await prompt(client, session_id, "hi")
    assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"


@pytest.mark.parametrize("commands", [("sleep 60",), ("echo a", "sleep 60", "sleep 61")])
async def test_b032_aborted(tmp_path: Path, commands: tuple[str, ...]) -> None:
    where = place(tmp_path)
    async with (
        provided(where, answers(*commands)) as fp,
        daemon(where, model=MODEL, arguments=YES) as client,
    ):
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await until(client, "tool", "running", len(commands))
        await asyncio.sleep(0.5)
        await client.call("agent/abort", {"sessionId": session_id})
        ids = [f"c{n}" for n in range(1, len(commands) + 1)]
        whole = [("call", mid) for mid in ids] + [("result", mid) for mid in ids]
        assert stored(where) == whole
        await says_hi(client, session_id)
        assert stored(where) == whole
        assert len(fp.seen) == 2


@pytest.mark.parametrize("commands", [("sleep 60",), ("echo a", "sleep 60", "sleep 61")])
async def test_b032_killed(tmp_path: Path, commands: tuple[str, ...]) -> None:
    where = place(tmp_path)
    async with provided(where, answers(*commands)):
        async with daemon(where, model=MODEL, arguments=YES) as client:
            session_id = await opened(client, where)
            await prompt(client, session_id, "go")
            await until(client, "tool", "running", len(commands))
            await asyncio.sleep(0.5)
            assert client.process is not None
            client.process.kill()
            await client.process.wait()
        async with daemon(where, model=MODEL, arguments=YES) as client:
            await opened(client, where, sessionId=session_id)
            await says_hi(client, session_id)
