"""Stop, once: one end, no request after it, and what waited waits on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, bash, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled, text, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


async def test_b031_an_abort_ends_the_turn_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    replies = [bash("sleep 300"), says("done")]
    async with provided(where, replies) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await until(client, "tool", "running")
        later = {"sessionId": session_id, "content": text("later")}
        queued = await client.call("agent/followUp", later)
        assert (await client.call("agent/abort", {"sessionId": session_id}))["aborted"]
        await asyncio.sleep(0.5)
        assert [e["reason"] for e in events(client, "turn_ended")] == ["aborted"]
        assert len(events(client, "settled")) == len(events(client, "turn_started")) == 1
        assert len(fp.seen) == 1
        queue = await client.call("agent/queue/list", {"sessionId": session_id})
        assert [item["queueId"] for item in queue["items"]] == [queued["queueId"]]
        await prompt(client, session_id, "go on")
        await settled(client, session_id)
        assert [e["reason"] for e in events(client, "turn_ended")][1] == "end_turn"
