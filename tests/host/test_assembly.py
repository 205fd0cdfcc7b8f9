"""How a session is put together: what is wrong round it is told in plain lines."""

from __future__ import annotations

from pathlib import Path

import anyio

from singletree.host.host import Host
from singletree.host.look import Nobody
from singletree.host.options import Options


async def test_what_is_wrong_with_instructions_is_told_in_a_line(tmp_path: Path) -> None:
    work, agent_dir = tmp_path / "work", tmp_path / "agent"
    work.mkdir()
    (work / "AGENTS.md").write_bytes(b"caf\xe9")
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {}), Nobody(), tasks)
        session = await host.open(work)
        told = [text for code, text in session.state().notices if code == "context"]
        assert told == [f"{work / 'AGENTS.md'} is not UTF-8; it was guessed."]
        await host.close_all()
