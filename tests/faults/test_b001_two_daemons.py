"""Two daemons on one session: the second is told, and takes over from one that was killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.daemon.real import daemon, opened, place, prompt, settled
from tests.rpc.client import Failed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

ANSWER = {"text": "yes"}


async def test_b001_never_two_writers(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, ANSWER) as a, daemon(where, ANSWER) as b:
        session_id = await opened(a, where)
        await prompt(a, session_id, "one")
        await settled(a, session_id)
        with pytest.raises(Failed) as told:
            await b.call("agent/session/open", {"sessionId": session_id}, 30)
        assert a.process is not None
        assert told.value.data["code"] == "locked"
        assert told.value.data["detail"] == {"pid": a.process.pid}
        a.process.kill()
        await a.process.wait()
        assert await opened(b, where, sessionId=session_id) == session_id
        await prompt(b, session_id, "two")
        await settled(b, session_id)
    (path,) = where.agent_dir.glob("sessions/*/*")
    entries = [json.loads(line) for line in path.read_bytes().splitlines()][1:]
    ids = {entry["id"] for entry in entries}
    parents = {entry["parentId"] for entry in entries}
    assert parents <= ids | {None}
    assert len(ids - parents) == 1
    said = [e["message"]["content"] for e in entries if e["type"] == "message"]
    assert [blocks[0]["text"] for blocks in said] == ["one", "yes", "two", "yes"]
