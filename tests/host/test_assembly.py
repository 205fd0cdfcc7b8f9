"""How a session is put together: what is wrong round it is told in plain lines."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from singletree.errors import AuthMissing
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


async def test_the_model_is_never_looked_up_in_the_loop(tmp_path: Path) -> None:
    work, agent_dir = tmp_path / "work", tmp_path / "agent"
    work.mkdir()
    agent_dir.mkdir()
    models = [{"id": "m", "contextWindow": 5000}]
    server = {"baseUrl": "https://models.invalid", "api": "openai-completions", "models": models}
    (agent_dir / "models.json").write_text(json.dumps({"providers": {"x": server}}))
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {}, model="x/m"), Nobody(), tasks)
        session = await host.open(work)
        with pytest.raises(AuthMissing):  # without a key; told from what was found, not read anew
            session.choice.model()
        await anyio.to_thread.run_sync(host.assembly.catalog.set_key, "x", "k")
        host.look_again()
        await session.choice.settle()
        assert session.context_use().window == 5000
        host.look_again()
        assert session.context_use().window == 5000
        await host.close_all()


async def test_skills_and_prompts_come_from_settings_and_from_home(tmp_path: Path) -> None:
    work, agent_dir, home = tmp_path / "work", tmp_path / "agent", tmp_path / "home"
    skill, prompts = agent_dir / "know-how" / "tidy", tmp_path / "texts"
    shared = home / ".agents" / "skills" / "shared"
    for folder in (work, skill, shared, prompts):
        folder.mkdir(parents=True)
    (shared / "SKILL.md").write_text("---\nname: shared\ndescription: For all\n---\nShare.")
    (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidy up\n---\nTidy.")
    (prompts / "review.md").write_text("Review it.")
    named = {"skills": ["know-how"], "prompts": [str(prompts)]}
    (agent_dir / "settings.json").write_text(json.dumps(named))
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {"HOME": str(home)}), Nobody(), tasks)
        session = await host.open(work)
        offered = {one.name for one in await session.user_input.offered()}
        assert {"skill:tidy", "skill:shared", "review"} <= offered
        await host.close_all()
