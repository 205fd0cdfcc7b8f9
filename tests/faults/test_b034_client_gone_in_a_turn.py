"""The client disappears while a command runs: the daemon ends, and leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.daemon.ends import alive, ends, until_alive
from tests.daemon.provider import MODEL, bash, provided
from tests.daemon.real import daemon, opened, place, prompt

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


async def test_b034_stdin_is_closed_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with provided(where, [bash("sleep 120.34 & sleep 120.34")]):
        async with daemon(where, model=MODEL, arguments=("--mode", "allowAll")) as client:
            session_id = await opened(client, where)
            await prompt(client, session_id, "go")
            await until_alive("sleep 120.34", 3)
            await client.eof()
            await ends(client, 0, 6)
        await until_alive("sleep 120.34", 0, 2)
        assert alive("sleep 120.34") == []
        (path,) = where.agent_dir.glob("sessions/*/*")
        last = json.loads(path.read_bytes().splitlines()[-1])
        assert (last["message"]["role"], last["message"]["toolCallId"]) == ("toolResult", "c1")
        async with daemon(where, model=MODEL) as client:
            found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
            assert found["sessionId"] == session_id
            assert (found["state"]["phase"], found["state"]["warnings"]) == ("idle", [])
