"""B025 in the whole daemon: a server that counts nothing, zeros, or in an odd place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, SUMMARY, asked, is_summary, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import Reply, Seen
from tests.model.fake_server import events as stream

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ANSWER = "many words " * 300
SAID = {"id": "c1", "choices": [{"index": 0, "delta": {"content": ANSWER}}]}
STOP = {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
COUNT = {"prompt_tokens": 5000, "completion_tokens": 900, "total_tokens": 5900}
STREAMS = {
    "none": stream(SAID, STOP, "[DONE]"),
    "zeros": stream(SAID, STOP, {"id": "c1", "choices": [], "usage": ZEROS}, "[DONE]"),
    "null in every chunk": stream(SAID | {"usage": None}, STOP | {"usage": None}, "[DONE]"),
    "behind, without choices": stream(
        SAID, STOP, {"id": "c1", "choices": [], "usage": COUNT}, "[DONE]"
    ),
}


@pytest.mark.parametrize("kind", STREAMS)
async def test_b025_compaction_starts_all_the_same(tmp_path: Path, kind: str) -> None:
    where = place(tmp_path)
    where.settings(compaction={"reserveTokens": 1500, "keepRecentTokens": 1000})

    def answer(seen: Seen) -> Reply:
        return Reply([says(SUMMARY) if is_summary(seen) else STREAMS[kind]])

    async with (
        provided(where, answer, contextWindow=7000, maxTokens=1000) as fp,
        daemon(where, model=MODEL, arguments=("--tools", "read")) as client,
    ):
        session_id = await opened(client, where)
        used: list[int | None] = []
        for number in range(8):
            await prompt(client, session_id, f"question {number}")
            assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
            state = await client.call("agent/session/state", {"sessionId": session_id})
            used.append(state["contextUsage"]["tokens"])
        told = [e for e in events(client, "compaction") if e["status"] != "progress"]
        assert {(e["status"], e["reason"]) for e in told} == {
            ("started", "threshold"),
            ("completed", "threshold"),
        }
        assert all(tokens for tokens in used if tokens is not None)
        assert "question 0" not in str(asked(fp.seen[-1]))
