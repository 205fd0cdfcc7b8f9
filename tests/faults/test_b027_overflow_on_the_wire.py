"""B027 in the whole daemon: what servers answer, byte by byte, to a request that is too large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, SUMMARY, is_summary, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import Reply, Seen, refusal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


OVERFLOWS = {
    "a code": refusal(400, error("Too long.", code="context_length_exceeded")),
    "too long": refusal(400, error("prompt is too long: 9001 tokens > 8000 maximum")),
    "exceeded by": refusal(
        400, error("prompt too long; exceeded max context length by 1001 tokens")
    ),
    "available size": refusal(
        400, error("request (9001 tokens) exceeds the available context size (8000 tokens)")
    ),
    "at least": refusal(
        400,
        error(
            "This model's maximum context length is 8000 tokens. However, your request has "
            "at least 8001 input tokens."
        ),
    ),
    "nothing but a status": refusal(413, ""),
    "a shift": refusal(500, error("context shift is disabled")),
}
OTHERS = {
    "a rate": refusal(429, error("Limit 8000 tokens per min"), retry_after="0"),
    "an own limit": refusal(400, error("max_tokens must be <= 4096")),
}


@pytest.mark.parametrize("kind", [*OVERFLOWS, *OTHERS])
async def test_b027_an_overflow_is_compacted_once_and_asked_once_more(
    tmp_path: Path, kind: str
) -> None:
    where = place(tmp_path)
    where.settings(compaction={"keepRecentTokens": 10}, retry={"baseDelayMs": 1})
    replies = {2: (OVERFLOWS | OTHERS)[kind]}
    asked = 0

    def answer(seen: Seen) -> Reply:
        nonlocal asked
        if is_summary(seen):
            return Reply([says(SUMMARY)])
        asked += 1
        return replies.get(asked) or Reply([says("ok. " * 40)])

    async with provided(where, answer), daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "first")
        await settled(client, session_id)
        await prompt(client, session_id, "second")
        ended = (await settled(client, session_id))["lastTurn"]
        told = [e["status"] for e in events(client, "compaction") if e["status"] != "progress"]
        if kind in OVERFLOWS:
            assert (ended["reason"], asked) == ("end_turn", 3)
            assert told == ["started", "completed"]
        else:
            assert (ended["reason"], asked, told) == (
                ("end_turn", 3, []) if kind == "a rate" else ("error", 2, [])
            )
