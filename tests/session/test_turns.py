"""Saying something: what is durable when, what waits, what an abort leaves."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.session.stage import no, outline, said, stage

from singletree.errors import ModelError, SessionBusy, SingletreeError, StaleError
from singletree.messages import AssistantMessage
from singletree.model.scripted import ScriptedModel, call, fail, say, wait
from singletree.session.events import (
    QueueChanged,
    RetryChanged,
    Settled,
    ToolEnded,
    TurnEnded,
    TurnStarted,
    Warned,
)
from singletree.session.settings.keys import Compaction, Retry, Settings
from singletree.session.turn.queue import MOST_WAITING


async def test_a_prompt_is_on_the_disk_before_it_is_answered(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(5) + say("late")])) as on:
        accepted = await on.session.turns.prompt(said("remember me"))
        file = on.session.history.file
        assert b"remember me" in file.read_bytes()
        assert accepted.disposition == "started"
        assert str(accepted.message_id) in file.read_text("utf-8")
        await on.session.turns.abort()


async def test_a_turn_begins_and_ends_once_and_then_it_is_settled(tmp_path: Path) -> None:
    model = ScriptedModel([call("read", path="a.txt"), say("It says x.")])
    async with stage(tmp_path, model) as on:
        (on.folder / "a.txt").write_text("x\n")
        await on.say("read it")
        kinds = [type(e) for e in on.events if isinstance(e, TurnStarted | TurnEnded | Settled)]
        assert kinds == [TurnStarted, TurnEnded, Settled]
        assert outline(model.requests[1].messages) == [
            "user: read it",
            "assistant:  call read",
            "result: x",
        ]


async def test_whoever_heard_the_end_of_a_turn_is_not_told_that_it_runs(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say(str(n)) for n in range(3)])) as on:

        async def ended(count: int) -> None:
            while sum(isinstance(event, TurnEnded) for event in on.events) < count:
                await anyio.lowlevel.checkpoint()

        for count in (1, 2):
            await on.session.turns.prompt(said("go"))
            await ended(count)
        leaf = on.session.history.leaf
        assert not any(isinstance(event, Settled) for event in on.events[-1:])
        navigated = await on.session.navigate(str(leaf))
        assert navigated.leaf_id == leaf
        accepted = await on.session.turns.prompt(said("and on"), when_busy="followUp")
        assert accepted.disposition == "started"
        await on.session.turns.wait()
        assert [user for user in outline(on.model.requests[2].messages) if "user" in user] == [
            "user: go",
            "user: go",
            "user: and on",
        ]


async def test_two_prompts_at_once_and_one_of_them_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two")])) as on:
        refused: list[SingletreeError] = []

        async def prompt(text: str) -> None:
            try:
                await on.session.turns.prompt(said(text))
            except SessionBusy as error:
                refused.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, "first")
            tasks.start_soon(prompt, "second")
        await on.session.turns.wait()
        assert [error.code for error in refused] == ["session_busy"]
        assert len(on.model.requests) == 1


async def test_the_same_client_message_id_gets_the_first_answer(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two")])) as on:
        first = await on.session.turns.prompt(said("hi"), client_message_id="c1")
        again = await on.session.turns.prompt(said("hi"), client_message_id="c1")
        await on.session.turns.wait()
        assert again == first
        assert len(on.model.requests) == 1


async def test_the_same_id_is_known_in_the_next_life_and_twice_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        first = await on.session.turns.prompt(said("hi"), client_message_id='c"ü1')
        await on.session.turns.wait()
        session_id = on.session.id
    async with stage(tmp_path, ScriptedModel([say("two")]), session_id=session_id) as on:
        again = await on.session.turns.prompt(said("hi"), client_message_id='c"ü1')
        assert (again.disposition, again.message_id) == ("started", first.message_id)
        given: list[str | None] = []

        async def prompt() -> None:
            answer = await on.session.turns.prompt(said("new"), client_message_id="c2")
            given.append(answer.message_id)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(prompt)
        await on.session.turns.wait()
        assert len(set(given)) == 1
        assert len(on.model.requests) == 1


async def test_a_steering_text_is_heard_before_the_next_step(tmp_path: Path) -> None:
    model = ScriptedModel([call("bash", command="sleep 0.3; echo done"), say("ok")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: len(model.requests) == 1)
        answer = await on.session.turns.steer(said("shorter"))
        await on.session.turns.wait()
        assert answer.disposition == "injected"
        assert outline(model.requests[1].messages)[-1] == "user: shorter"
        assert on.session.queue.items == ()
        assert len(on.told(TurnStarted)) == 1


async def test_a_follow_up_is_a_turn_of_its_own(tmp_path: Path) -> None:
    model = ScriptedModel([wait(0.1) + say("one"), say("two")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("first"))
        answer = await on.session.turns.follow_up(said("second"))
        assert answer.disposition == "queued"
        await on.session.turns.wait()
        causes = [e.cause for e in on.events if isinstance(e, TurnStarted)]
        assert causes == ["prompt", "followUp"]
        assert len(on.told(Settled)) == 1


async def test_an_abort_answers_every_call_and_asks_no_more(tmp_path: Path) -> None:
    model = ScriptedModel([call("bash", command="sleep 60"), say("never")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.session.turns.follow_up(said("later"))
        await on.until(lambda: any(type(e).__name__ == "ToolStarted" for e in on.events))
        done = await on.session.turns.abort()
        assert done.aborted
        assert not done.forced
        ended = [e for e in on.events if isinstance(e, TurnEnded)]
        assert [e.reason for e in ended] == ["aborted"]
        assert [e.status for e in on.events if isinstance(e, ToolEnded)] == ["cancelled"]
        assert len(model.requests) == 1
        assert [i.kind for i in on.session.queue.items] == ["followUp"]


async def test_what_steering_waits_after_an_abort_goes_before_the_next_prompt(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([call("bash", command="sleep 60"), say("fine"), say("more")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: any(type(e).__name__ == "ToolStarted" for e in on.events))
        await on.session.turns.steer(said("S1"))
        await on.session.turns.abort()
        await on.say("next")
        texts = outline(model.requests[1].messages)
        assert texts[-2:] == ["user: S1", "user: next"]


async def test_an_abort_hands_the_queue_back(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(5) + say("late")])) as on:
        await on.session.turns.prompt(said("go"))
        await on.session.turns.follow_up(said("later"))
        done = await on.session.turns.abort(queue="return")
        assert [dict(i.content[0])["text"] for i in done.queue] == ["later"]
        assert on.session.queue.items == ()


async def test_a_queued_text_survives_the_process_and_waits_for_a_person(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(5) + say("late")])) as on:
        await on.session.turns.prompt(said("go"))
        await on.session.turns.follow_up(said("later"))
        session_id = on.session.id
    async with stage(tmp_path, ScriptedModel([say("hello")]), session_id=session_id) as on:
        assert [(i.kind, i.paused) for i in on.session.queue.items] == [("followUp", True)]
        await on.say("hi")
        assert len(on.model.requests) == 1
        assert [i.kind for i in on.session.queue.items] == ["followUp"]


async def test_a_text_queued_before_anything_was_said_is_found_with_its_session(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        await on.session.turns.steer(said("later"), when_idle="queue")
        session_id = on.session.id
    async with stage(tmp_path, ScriptedModel([say("one")]), session_id=session_id) as on:
        assert [(i.kind, i.paused) for i in on.session.queue.items] == [("steer", True)]
        on.session.queue.update("q1", paused=False)
        await on.say("now")
        assert outline(on.model.requests[0].messages) == ["user: later", "user: now"]


@pytest.mark.parametrize("content", ['[{"type": "text"}]', '[{"type": "image", "data": 5}]', "5"])
async def test_a_waiting_text_that_cannot_be_said_is_put_aside(
    tmp_path: Path, content: str
) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("hi")
        session_id = on.session.id
    file = tmp_path / "agent/singletree/queues" / f"{session_id}.json"
    file.parent.mkdir()
    file.write_text(f'[{{"queue_id": "q²", "kind": "steer", "content": {content}}}]')
    async with stage(tmp_path, ScriptedModel([say("two")]), session_id=session_id) as on:
        await on.say("hi again")
        assert on.session.queue.items == ()
        (aside,) = file.parent.glob("*.damaged-*")
        assert content in aside.read_text()


async def test_a_transient_failure_is_tried_again_and_hidden(tmp_path: Path) -> None:
    model = ScriptedModel([fail(ModelError("busy", retryable=True)), say("hello")])
    settings = Settings(retry=Retry(base_delay_ms=1))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("hi")
        retries = [e.status for e in on.events if isinstance(e, RetryChanged)]
        assert retries == ["waiting", "retrying", "succeeded"]
        assert outline(model.requests[1].messages) == ["user: hi"]
        kinds = [e.type for e in on.session.history.path()]
        assert "context_edit" in kinds


async def test_a_retry_that_helped_is_told_before_the_tools_run(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            fail(ModelError("busy", retryable=True)),
            call("write", path="a.txt", content="x"),
            say("ok"),
        ]
    )
    settings = Settings(retry=Retry(base_delay_ms=1))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("write it")
        told = [e for e in on.events if isinstance(e, RetryChanged | ToolEnded)]
        retries = [e.status for e in told[:3]]
        assert retries == ["waiting", "retrying", "succeeded"]
        assert isinstance(told[3], ToolEnded)


async def test_a_lasting_failure_is_the_turns_error(tmp_path: Path) -> None:
    model = ScriptedModel([fail(ModelError("no", code="auth_failed"))])
    async with stage(tmp_path, model) as on:
        await on.say("hi")
        ended = [e for e in on.events if isinstance(e, TurnEnded)]
        assert ended[0].reason == "error"
        assert ended[0].error is not None
        assert ended[0].error.code == "auth_failed"


async def test_nobody_there_means_no(tmp_path: Path) -> None:
    model = ScriptedModel([call("write", path="a.txt", content="x"), say("ok")])
    async with stage(tmp_path, model, ask=no) as on:
        await on.say("write it")
        assert not (on.folder / "a.txt").exists()
        assert [e.status for e in on.events if isinstance(e, ToolEnded)] == ["rejected"]


async def test_streamed_text_survives_a_crash(tmp_path: Path) -> None:
    model = ScriptedModel([say("half an") + wait(30) + say(" answer")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        partials = tmp_path / "agent" / "singletree" / "partials"
        await on.until(lambda: bool(list(partials.glob("*.json"))) if partials.exists() else False)
        kept = next(partials.glob("*.json")).read_bytes()
        session_id = on.session.id
        entries = on.session.history.entry_count
        await on.session.turns.abort()
    assert b"half an" in kept
    assert entries > 0
    assert not list(partials.glob("*.json"))
    (partials / f"{session_id}.json").write_bytes(kept.replace(b'"id": "', b'"id": "f'))
    async with stage(tmp_path, ScriptedModel([]), session_id=session_id) as on:
        last = on.session.history.path()[-1]
        message = getattr(last, "message", None)
        assert isinstance(message, AssistantMessage)
        assert message.stop_reason == "aborted"


async def test_each_answer_of_a_turn_is_kept_while_it_streams(tmp_path: Path) -> None:
    first = say("one") + wait(0.3) + call("bash", command="true")
    model = ScriptedModel([first, say("two") + wait(30)])
    partials = tmp_path / "agent" / "singletree" / "partials"

    def kept(text: str) -> bool:
        return any(text in file.read_text() for file in partials.glob("*.json"))

    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: kept("one"))
        await on.until(lambda: kept("two"))
        await on.session.turns.abort()
        assert not list(partials.glob("*.json"))


@pytest.mark.parametrize("content", ["", "   \n"])
async def test_an_empty_prompt_is_refused(tmp_path: Path, content: str) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        with pytest.raises(SingletreeError) as caught:
            await on.session.turns.prompt(said(content))
        assert caught.value.code == "input_empty"
        assert not on.session.history.on_disk


async def test_a_turn_that_is_not_meant_is_not_steered(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(5) + say("x")])) as on:
        await on.session.turns.prompt(said("go"))
        with pytest.raises(StaleError) as caught:
            await on.session.turns.steer(said("no"), expected_turn_id="other")
        assert caught.value.code == "turn_mismatch"
        assert on.told(QueueChanged) == []
        await on.session.turns.abort()


async def test_a_warning_that_comes_again_is_one_notice(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        for _ in range(3):
            on.session.warn("full", "The disk is full.")
        assert len(on.told(Warned)) == 3
        assert on.session.state().notices == (("full", "The disk is full."),)


async def test_a_turn_keeps_its_system_prompt_and_the_next_one_sees_what_changed(
    tmp_path: Path,
) -> None:
    writes = call("write", path="AGENTS.md", content="Speak in rhymes.")
    model = ScriptedModel([writes, say("Done."), say("Indeed.")])
    async with stage(tmp_path, model) as on:
        await on.say("write it")
        assert "rhymes" in str((await on.session.sight()).xray)
        await on.say("and now?")
    first, second, third = (request.system for request in model.requests)
    assert first == second and "rhymes" not in second
    assert "Speak in rhymes." in third


async def test_a_steering_that_wants_a_turn_is_refused_without_one(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        with pytest.raises(SingletreeError) as refused:
            await on.session.turns.steer(said("left"), when_idle="error")
        assert refused.value.code == "no_active_turn"


async def test_what_sums_up_cannot_be_steered(tmp_path: Path) -> None:
    model = ScriptedModel([say("a" * 400), say("b" * 400), wait(30) + say("late")])
    settings = Settings(compaction=Compaction(keep_recent_tokens=50))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("first")
        await on.say("second")
        async with anyio.create_task_group() as group:
            group.start_soon(on.session.compact)
            while on.session.state().phase != "compacting":
                await anyio.lowlevel.checkpoint()
            with pytest.raises(SingletreeError) as refused:
                await on.session.turns.steer(said("left"))
            group.cancel_scope.cancel()
        assert refused.value.code == "not_steerable"
        assert refused.value.detail == {"phase": "compacting"}


async def test_only_so_many_texts_wait(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(30) + say("late")])) as on:
        await on.session.turns.prompt(said("go"))
        for number in range(MOST_WAITING):
            await on.session.turns.follow_up(said(f"and {number}"))
        with pytest.raises(SingletreeError) as refused:
            await on.session.turns.follow_up(said("too much"))
        assert refused.value.code == "queue_full"
        assert len(on.session.queue.items) == MOST_WAITING
