"""Instruction files as a turn meets them: a bad one never ends it, a changed one counts next."""

from __future__ import annotations

from pathlib import Path

import anyio
from tests.session.stage import outline, stage

from singletree.model.scripted import ScriptedModel, call, say


async def test_b071_the_next_prompt_sees_the_new_text(tmp_path: Path) -> None:
    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model) as on:
        path = on.folder / "AGENTS.md"
        await anyio.to_thread.run_sync(path.write_text, "Speak of foxes.")
        await on.say("a")
        await anyio.to_thread.run_sync(path.write_text, "Speak of hares.")
        await on.say("b")
        first, second = (request.system for request in model.requests)
        assert "foxes" in first
        assert "hares" in second
        assert "foxes" not in second


async def test_b071_what_a_turn_writes_counts_from_the_next_turn_on(tmp_path: Path) -> None:
    write = call("write", path="AGENTS.md", content="Speak of hares.")
    model = ScriptedModel([write, say("ok"), say("yes")])
    async with stage(tmp_path, model) as on:
        await on.say("write it down")
        await on.say("heed it")
        assert ["hares" in request.system for request in model.requests] == [False, False, True]


async def test_b071_a_bad_file_ends_no_turn(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        (on.folder / "AGENTS.md").mkdir()
        (tmp_path / "AGENTS.md").write_bytes(b"x" * 5_000_000)
        await on.say("hi")
        assert outline(on.model.requests[0].messages) == ["user: hi"]
        assert len(on.model.requests[0].system) < 200_000
        last = on.session.turns.last
        assert last is not None
        assert last.reason == "end_turn"
