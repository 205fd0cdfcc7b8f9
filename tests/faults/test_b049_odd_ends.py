"""What was said counts, not the word it ends with; an answer of nothing is asked once more."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.session.stage import outline, stage

from singletree.agent.loop import EMPTY_ANSWER
from singletree.model.scripted import ScriptedModel, Turn, call, say
from singletree.session.events import TurnEnded

NOTHING = Turn(())


@pytest.mark.parametrize("stop", ["stop", "end_turn"])
async def test_calls_are_run_whatever_the_end_is_called(tmp_path: Path, stop: str) -> None:
    model = ScriptedModel([call("bash", command="echo hi > ran").but(stop=stop), say("done")])
    async with stage(tmp_path, model) as on:
        await on.say("go")
        assert (on.folder / "ran").exists()
        assert len(model.requests) == 2


@pytest.mark.parametrize("stop", ["toolUse", "eos"])
async def test_without_a_call_it_is_the_end(tmp_path: Path, stop: str) -> None:
    model = ScriptedModel([say("that is all").but(stop=stop), say("never")])
    async with stage(tmp_path, model) as on:
        await on.say("go")
        assert len(model.requests) == 1
        ended = on.told(TurnEnded)[0]
        assert isinstance(ended, TurnEnded)
        assert ended.reason == "end_turn"


async def test_nothing_is_asked_once_more(tmp_path: Path) -> None:
    model = ScriptedModel([NOTHING, say("here I am")])
    async with stage(tmp_path, model) as on:
        await on.say("go")
        assert [outline(request.messages) for request in model.requests] == [["user: go"]] * 2
        ended = on.told(TurnEnded)[0]
        assert isinstance(ended, TurnEnded)
        assert ended.reason == "end_turn"


async def test_nothing_twice_is_told_and_never_replayed(tmp_path: Path) -> None:
    model = ScriptedModel([NOTHING, NOTHING, say("later")])
    async with stage(tmp_path, model) as on:
        await on.say("go")
        assert len(model.requests) == 2
        ended = on.told(TurnEnded)[0]
        assert isinstance(ended, TurnEnded)
        assert ended.reason == "error"
        assert ended.error is not None
        assert ended.error.message == EMPTY_ANSWER
        await on.say("again")
        assert outline(model.requests[2].messages) == ["user: go", "user: again"]
