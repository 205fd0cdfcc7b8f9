"""How turns follow one another: nothing that waits is forgotten, nothing kept is sent by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.session.stage import Casting, outline, said, stage
from tests.session.test_compactor import SUMMARY

from singletree.errors import ModelError, SessionError, SingletreeError
from singletree.extensions.api import ExtensionAPI
from singletree.model.base import Model
from singletree.model.scripted import ScriptedModel, fail, say, wait
from singletree.session.events import TurnEnded, TurnStarted, Warned
from singletree.session.model_choice import Override
from singletree.session.settings.keys import Compaction, Settings

SMALL = Settings(compaction=Compaction(reserve_tokens=10, keep_recent_tokens=1))


def only(model: ScriptedModel) -> Callable[[str], Model]:
    """There is no other model."""

    def find(ref: str) -> Model:
        if ref != model.info.ref:
            raise SingletreeError("No model is chosen.", code="no_model")
        return model

    return find


@pytest.mark.parametrize("later", range(0, 40, 3))
async def test_a_text_said_while_a_turn_ends_is_heard(tmp_path: Path, later: int) -> None:
    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("first"))
        await on.until(lambda: bool(on.told(TurnEnded)))
        for _ in range(later):
            await anyio.lowlevel.checkpoint()
        await on.session.turns.follow_up(said("second"))
        await on.session.turns.wait()
        assert on.session.queue.items == ()
        assert outline(model.requests[-1].messages)[-1] == "user: second"


async def test_what_is_queued_while_compacting_is_said_then(tmp_path: Path) -> None:
    model = ScriptedModel([say("one"), say("two"), wait(0.2) + say(SUMMARY), say("three")])
    async with stage(tmp_path, model, settings=SMALL) as on:
        await on.say("first")
        await on.say("second")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(on.session.compact)
            await on.until(lambda: on.session.state().phase == "compacting")
            done = await on.session.turns.follow_up(said("third"))
            assert done.disposition == "queued"
        await on.until(lambda: len(on.told(TurnEnded)) == 3)
        assert [e.cause for e in on.events if isinstance(e, TurnStarted)][-1] == "followUp"
        assert outline(model.requests[-1].messages)[-1] == "user: third"


async def test_what_an_abort_kept_is_not_said_by_itself(tmp_path: Path) -> None:
    model = ScriptedModel(
        [say("one"), wait(30) + say("late"), say(SUMMARY), say("three"), say("4")]
    )
    async with stage(tmp_path, model, settings=SMALL) as on:
        await on.say("first")
        await on.session.turns.prompt(said("second"))
        await on.until(lambda: len(model.requests) == 2)
        await on.session.turns.follow_up(said("kept"))
        await on.session.turns.abort()
        await on.session.compact()
        await anyio.sleep(0.05)
        assert [dict(i.content[0])["text"] for i in on.session.queue.items] == ["kept"]
        await on.say("third")
        assert outline(model.requests[-1].messages)[-1] == "user: kept"


async def test_a_prompt_that_cannot_begin_leaves_no_trace(tmp_path: Path) -> None:
    model = ScriptedModel([say("one"), wait(30) + say("late"), say(SUMMARY), say("three")])
    casting = Casting(settings=lambda: SMALL, find=only(model))
    async with stage(tmp_path, model, casting=casting) as on:
        await on.say("first")
        await on.session.turns.prompt(said("second"))
        await on.until(lambda: len(model.requests) == 2)
        await on.session.turns.follow_up(said("kept"))
        await on.session.turns.abort()
        elsewhere = Override("p/gone", "high")
        before = on.session.state()
        with pytest.raises(SingletreeError, match="No model"):
            await on.session.turns.prompt(said("third"), override=elsewhere)
        assert on.session.state() == before
        await on.session.compact()
        await anyio.sleep(0.05)
        assert [dict(i.content[0])["text"] for i in on.session.queue.items] == ["kept"]
        assert len(on.told(TurnStarted)) == 2


async def test_an_extensions_turn_leaves_what_an_abort_kept(tmp_path: Path) -> None:
    apis: list[ExtensionAPI] = []
    model = ScriptedModel([wait(30) + say("late"), say("two")])
    async with stage(tmp_path, model, extensions=[apis.append]) as on:
        await on.session.turns.prompt(said("first"))
        await on.until(lambda: len(model.requests) == 1)
        await on.session.turns.follow_up(said("kept"))
        await on.session.turns.abort()
        apis[0].send("mine", trigger=True)
        await on.until(lambda: len(on.told(TurnEnded)) == 2)
        await on.session.turns.wait()
        assert [dict(i.content[0])["text"] for i in on.session.queue.items] == ["kept"]


async def test_an_extension_cannot_begin_a_turn_without_a_model(tmp_path: Path) -> None:
    apis: list[ExtensionAPI] = []
    model = ScriptedModel([say("one")])
    casting = Casting(extensions=[apis.append], find=only(model))
    async with stage(tmp_path, model, casting=casting) as on:
        on.session.choice.ref = "p/gone"
        apis[0].send("mine", trigger=True)
        await on.until(lambda: bool(on.told(Warned)))
        assert [e.code for e in on.events if isinstance(e, Warned)] == ["no_model"]
        assert not on.session.turns.busy
        on.session.choice.ref = on.model.info.ref
        await on.say("hi")
        assert outline(on.model.requests[0].messages) == ["user: hi", "user: mine"]


async def test_a_failed_turn_keeps_what_waits(tmp_path: Path) -> None:
    failed = wait(0.1) + fail(ModelError("no"))
    model = ScriptedModel([failed, say("two"), say("three")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("first"))
        await on.session.turns.follow_up(said("later"))
        await on.session.turns.wait()
        assert len(on.session.queue.items) == 1
        await on.say("second")
        assert outline(model.requests[-1].messages)[-1] == "user: later"


async def test_what_was_taken_back_begins_no_turn(tmp_path: Path) -> None:
    model = ScriptedModel([say("one")])

    def find(ref: str) -> Model:
        time.sleep(0.1)
        return model

    async with stage(tmp_path, model, casting=Casting(find=find)) as on:
        await on.say("hi")
        await on.session.turns.steer(said("S"), when_idle="queue")
        with pytest.raises(SessionError):
            await on.session.compact()
        on.session.choice.forget_found()
        await on.until(lambda: on.session.turns.busy)
        on.session.queue.clear()
        await on.until(lambda: not on.session.turns.busy)
        assert len(on.told(TurnStarted)) == 1
        assert on.told(Warned) == []
