"""A project folder that was renamed: its session goes on where the folder is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.rpc.client import Failed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


async def test_b010_a_moved_project(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Yes."}) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "here")
        await settled(client, session_id)
    moved = tmp_path / "moved"
    where.folder.rename(moved)
    turns = ({"call": "bash", "args": {"command": "pwd"}}, {"text": "There."})
    async with daemon(where, *turns) as client:
        listed = await client.call("agent/session/list", {"workspace": str(moved)})
        assert [row["sessionId"] for row in listed["sessions"]] == [session_id]
        with pytest.raises(Failed) as gone:
            await client.call("agent/session/open", {"sessionId": session_id})
        assert gone.value.data["code"] == "workspace_not_found"
        assert "new folder" in gone.value.data["hint"]
        there = await client.call(
            "agent/session/open", {"sessionId": session_id, "cwd": str(moved)}, 30
        )
        assert "here" in str(there["history"]["entries"])
        assert there["state"]["cwd"] == str(moved)
        await prompt(client, session_id, "where?")
        await settled(client, session_id)
        (done,) = [e for e in events(client, "tool") if e["status"] == "completed"]
        assert done["result"]["content"][0]["text"].strip() == str(moved)
