"""A summary that fails, is empty or is cancelled: nothing has changed, and everybody is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, SUMMARY, asked, is_summary, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import FakeServer, Reply, Seen, chat, refusal
from tests.rpc.client import Failed, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


class Provider:
    """Answers turns; of summaries as it is told."""

    def __init__(self) -> None:
        self.summary: Callable[[], Reply] = lambda: Reply([says(SUMMARY)])

    def __call__(self, seen: Seen) -> Reply:
        return self.summary() if is_summary(seen) else Reply([says("ok. " * 40)])


FAILS: dict[str, Callable[[], Reply]] = {
    "status 500": lambda: refusal(500, {"error": {"message": "boom"}}),
    "empty": lambda: Reply([chat()]),
    "cut": lambda: Reply([chat({"content": "## Goal"}, finish=None)], cut=True),
}
SLOW = Reply([chat({"content": "## Goal"}, finish=None)], hold=True)


async def compact(client: RawClient, session_id: str) -> object:
    return await client.call("agent/compact", {"sessionId": session_id}, 30)


async def unchanged(client: RawClient, session_id: str, fp: FakeServer, status: str) -> None:
    """Told once, no entry, the context as before, and no second try by itself."""
    told = [e["status"] for e in events(client, "compaction")]
    assert told == ["started", status]
    state = await client.call("agent/session/state", {"sessionId": session_id})
    assert state["phase"] == "idle"
    page = await client.call("agent/session/entries", {"sessionId": session_id})
    assert "compaction" not in [entry["type"] for entry in page["entries"]]
    summaries = len([seen for seen in fp.seen if is_summary(seen)])
    await prompt(client, session_id, "hi")
    assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
    assert asked(fp.seen[-1])[0] == "user: first"
    assert len([seen for seen in fp.seen if is_summary(seen)]) == summaries


@pytest.mark.parametrize("fault", FAILS)
async def test_b023_a_summary_that_fails(tmp_path: Path, fault: str) -> None:
    where, answers = place(tmp_path), Provider()
    where.settings(compaction={"keepRecentTokens": 10}, retry={"baseDelayMs": 1})
    async with provided(where, answers) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        for words in ("first", "second"):
            await prompt(client, session_id, words)
            await settled(client, session_id)
        answers.summary = FAILS[fault]
        with pytest.raises(Failed) as failed:
            await compact(client, session_id)
        assert failed.value.code == -32803
        await unchanged(client, session_id, fp, "failed")
        answers.summary = lambda: Reply([says(SUMMARY)])
        await compact(client, session_id)
        assert events(client, "compaction")[-1]["status"] == "completed"


@pytest.mark.parametrize("how", ["$/cancelRequest", "agent/abort"])
async def test_b023_a_summary_that_is_cancelled(tmp_path: Path, how: str) -> None:
    where, answers = place(tmp_path), Provider()
    where.settings(compaction={"keepRecentTokens": 10})
    async with provided(where, answers) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        for words in ("first", "second"):
            await prompt(client, session_id, words)
            await settled(client, session_id)
        answers.summary = lambda: SLOW
        mid = client.request("agent/compact", {"sessionId": session_id})
        await client.until(lambda f: "summary" in str(f.get("params", {}).get("kind")), 30)
        if how == "agent/abort":
            stop = {"sessionId": session_id, "scope": "compaction"}
            assert (await client.call(how, stop))["aborted"]
        else:
            client.notify(how, {"id": mid})
        assert (await client.answer(mid))["error"]["code"] == -32800
        await unchanged(client, session_id, fp, "cancelled")
        answers.summary = lambda: Reply([says(SUMMARY)])
        await compact(client, session_id)
        assert events(client, "compaction")[-1]["status"] == "completed"
