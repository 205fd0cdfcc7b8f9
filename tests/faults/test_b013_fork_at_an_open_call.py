"""Going on from a call that has no result: what the provider gets is whole all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, asked, bash, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


async def test_b013_forked_and_navigated_to_a_call_that_runs(tmp_path: Path) -> None:
    where = place(tmp_path)
    replies = [bash("sleep 60"), says("forked"), says("navigated")]
    async with provided(where, replies) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await until(client, "tool", "running")
        call = events(client, "entry")[-1]["entry"]
        assert call["message"]["role"] == "assistant"
        at = {"sessionId": session_id, "entryId": call["id"]}
        forked = await client.call("agent/session/fork", at | {"position": "at"})
        await prompt(client, forked["sessionId"], "x")
        assert (await settled(client, forked["sessionId"]))["lastTurn"]["reason"] == "end_turn"
        _pairs_up(asked(fp.seen[-1]), "x")
        await client.call("agent/abort", {"sessionId": session_id})
        await client.call("agent/tree/navigate", at)
        await prompt(client, session_id, "y")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        _pairs_up(asked(fp.seen[-1]), "y")


def _pairs_up(lines: list[str], words: str) -> None:
    """The call, one result that says it did not run or was stopped, and what was said then."""
    assert lines[:2] == ["user: go", "assistant: c1"]
    assert len([line for line in lines if line.startswith("tool:")]) == 1
    assert lines[-1] == f"user: {words}"
