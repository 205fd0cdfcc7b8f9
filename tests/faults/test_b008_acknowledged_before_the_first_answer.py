"""A prompt that was acknowledged is in the file, whether the model ever answers or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, provided
from tests.daemon.real import daemon, opened, place, prompt
from tests.model.fake_server import Reply

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


async def test_b008_killed_before_the_first_answer(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with provided(where, [Reply(hold=True)]):
        async with daemon(where, model=MODEL) as client:
            session_id = await opened(client, where)
            assert not list(where.agent_dir.glob("sessions/*/*"))
            await prompt(client, session_id, "remember me")
            assert client.process is not None
            client.process.kill()
            await client.process.wait()
        async with daemon(where, model=MODEL) as client:
            listed = await client.call("agent/session/list", {"workspace": str(where.folder)})
            (row,) = listed["sessions"]
            assert (row["sessionId"], row["preview"]) == (session_id, "remember me")
            found = await client.call("agent/session/open", {"cwd": str(where.folder)})
            assert found["sessionId"] == session_id
            assert "remember me" in str(found["history"]["entries"])
            assert found["state"]["phase"] == "idle"


async def test_b008_stopped_before_the_first_answer(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with provided(where, [Reply(hold=True)]):
        async with daemon(where, model=MODEL) as client:
            session_id = await opened(client, where)
            await prompt(client, session_id, "remember me")
            await client.call("agent/abort", {"sessionId": session_id})
            await client.eof()
        async with daemon(where, model=MODEL) as client:
            found = await client.call("agent/session/open", {"cwd": str(where.folder)})
            assert found["sessionId"] == session_id
            assert "remember me" in str(found["history"]["entries"])
