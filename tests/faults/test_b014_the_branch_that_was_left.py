"""After going elsewhere in the tree, the model sees nothing of the branch that was left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, SUMMARY, asked, is_summary, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import Reply, Seen
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SECRET = "the code is K7Q"


def answers(seen: Seen) -> Reply:
    return Reply([says(SUMMARY if is_summary(seen) else "ok. " * 40)])


async def _two_turns(client: RawClient, session_id: str) -> str:
    """The first answer's id, after a second turn that holds the secret."""
    for words in ("hello", SECRET):
        await prompt(client, session_id, words)
        await settled(client, session_id)
    entries = [e["entry"] for e in events(client, "entry") if e["entry"]["type"] == "message"]
    return str(entries[1]["id"])


async def test_b014_without_a_summary(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(compaction={"keepRecentTokens": 10})
    async with provided(where, answers) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        first = await _two_turns(client, session_id)
        before = len(fp.seen)
        await client.call("agent/tree/navigate", {"sessionId": session_id, "entryId": first})
        await prompt(client, session_id, "what was the code?")
        await settled(client, session_id)
        await client.call("agent/compact", {"sessionId": session_id}, 30)
        later = fp.seen[before:]
        assert len(later) >= 2 and is_summary(later[-1])
        assert all("K7Q" not in str(seen.body) for seen in later)
        assert asked(later[0])[-1] == "user: what was the code?"


async def test_b014_with_a_summary(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with provided(where, answers) as fp, daemon(where, model=MODEL) as client:
        session_id = await opened(client, where)
        first = await _two_turns(client, session_id)
        await client.call(
            "agent/tree/navigate",
            {"sessionId": session_id, "entryId": first, "summarize": True},
            30,
        )
        assert is_summary(fp.seen[-1]) and "K7Q" in str(fp.seen[-1].body)
        await prompt(client, session_id, "go on")
        await settled(client, session_id)
        assert "K7Q" not in str(fp.seen[-1].body)
        page = await client.call("agent/session/entries", {"sessionId": session_id})
        kinds = [entry["type"] for entry in page["entries"]]
        assert kinds.count("branch_summary") == 1
        assert "K7Q" not in str(page["entries"])
