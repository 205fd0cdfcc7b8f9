"""A steering text and an abort at the same moment: heard once, or handed back; never nowhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, asked, bash, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled, text, until
from tests.model.fake_server import Reply, Seen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MOMENTS = (None, 0.0, 0.002, 0.01, 0.05)
"""Seconds from the end of the last tool to the abort; None: at the end of the first."""


def answers(seen: Seen) -> Reply:
    return Reply([bash("sleep 0.4", "echo b") if asked(seen)[-1] == "user: go" else says("ok")])


@pytest.mark.parametrize("moment", MOMENTS)
async def test_b029_a_steer_is_in_one_place(tmp_path: Path, moment: float | None) -> None:
    where = place(tmp_path)
    yes = ("--mode", "allowAll")
    async with (
        provided(where, answers) as fp,
        daemon(where, model=MODEL, arguments=yes) as client,
    ):
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await until(client, "tool", "running")
        steer = {"sessionId": session_id, "content": text("S1")}
        assert (await client.call("agent/steer", steer))["disposition"] == "injected"
        ended = 1 if moment is None else 2
        await until(client, "tool", "completed", ended)
        await asyncio.sleep(moment or 0)
        await client.call("agent/abort", {"sessionId": session_id})
        queue = await client.call("agent/queue/list", {"sessionId": session_id})
        shown = events(client, "queue")[-1]
        assert (queue["items"], queue["version"]) == (shown["items"], shown["version"])
        await prompt(client, session_id, "next")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        last = asked(fp.seen[-1])
        assert last.count("user: S1") == 1
        assert last.index("user: S1") < last.index("user: next")
        page = await client.call("agent/session/entries", {"sessionId": session_id})
        assert str(page["entries"]).count("'S1'") == 1
