"""A steering text that comes while the user aborts is heard once, before what is said next."""

from __future__ import annotations

from pathlib import Path

from tests.session.stage import outline, said, stage

from singletree.model.scripted import ScriptedModel, call, say
from singletree.session.events import QueueChanged, ToolEnded, ToolStarted


async def test_a_steer_is_never_lost(tmp_path: Path) -> None:
    tools = call("bash", command="sleep 0.3") + call("bash", command="echo b")
    model = ScriptedModel([tools, say("one"), say("two")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: bool(on.told(ToolStarted)))
        await on.session.turns.steer(said("S1"))
        await on.until(lambda: len(on.told(ToolEnded)) == 2)
        await on.session.turns.abort()
        queued = [item for item in on.session.queue.items if item.kind == "steer"]
        told = on.told(QueueChanged)[-1]
        assert isinstance(told, QueueChanged)
        assert len(told.items) == len(queued)
        await on.say("next")
        texts = outline(model.requests[-1].messages)
        assert texts.count("user: S1") == 1
        assert texts.index("user: S1") < texts.index("user: next")
