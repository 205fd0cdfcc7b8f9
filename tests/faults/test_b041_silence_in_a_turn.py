"""A provider that falls silent in a turn: it ends, what was said stays, and an abort works."""

from __future__ import annotations

from pathlib import Path

import anyio
from tests.daemon.provider import MODEL, asked, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import Reply
from tests.model.fake_server import events as sent

HALF = Reply([sent({"choices": [{"delta": {"content": "half"}}]})], hold=True)


async def test_b041_silence_is_asked_again_and_the_half_is_kept_and_marked(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(httpIdleTimeoutMs=300, retry={"baseDelayMs": 10})
    async with (
        provided(where, [HALF, says("whole")]) as server,
        daemon(where, model=MODEL) as client,
    ):
        session = await opened(client, where)
        await prompt(client, session, "hi")
        assert (await settled(client, session))["lastTurn"]["reason"] == "end_turn"
        (told, *_) = events(client, "retry")
        answers = [e["entry"] for e in events(client, "entry") if "assistant" in str(e["entry"])]
    assert told["error"]["message"] == "fp: nothing came for 0.3 seconds"
    shown = [(a["message"]["stopReason"], a["message"]["content"][0]["text"]) for a in answers]
    assert shown == [("error", "half"), ("stop", "whole")]
    assert asked(server.seen[1]) == ["user: hi"]


async def test_b041_without_a_limit_an_abort_ends_the_turn(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(httpIdleTimeoutMs=0, httpFirstTokenTimeoutMs=0)
    async with (
        provided(where, [HALF, says("whole")]) as server,
        daemon(where, model=MODEL) as client,
    ):
        session = await opened(client, where)
        await prompt(client, session, "hi")
        await client.until(lambda f: f.get("method") == "agent/delta", 15)
        with anyio.fail_after(5):
            await client.call("agent/abort", {"sessionId": session})
            assert (await settled(client, session))["lastTurn"]["reason"] == "aborted"
            await server.empty.wait()
        await prompt(client, session, "again")
        assert (await settled(client, session))["lastTurn"]["reason"] == "end_turn"
