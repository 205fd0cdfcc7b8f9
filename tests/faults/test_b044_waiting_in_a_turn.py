"""A provider asks to wait: it is waited for and told, an abort ends it, too long is refused."""

from __future__ import annotations

from pathlib import Path

import anyio
from tests.session.stage import outline, said, stage

from singletree.errors import ModelError
from singletree.model.scripted import ScriptedModel, fail, say
from singletree.session.events import RetryChanged, TurnEnded


def limited(seconds: float) -> ModelError:
    return ModelError("Slow down", code="rate_limited", retryable=True, retry_after=seconds)


async def test_b044_the_wait_is_kept_and_told(tmp_path: Path) -> None:
    model = ScriptedModel([fail(limited(0.3)), say("hello")])
    async with stage(tmp_path, model) as on:
        begun = anyio.current_time()
        await on.say("hi")
        assert anyio.current_time() - begun >= 0.3
        told = [e for e in on.events if isinstance(e, RetryChanged)]
        assert [(e.attempt, e.max_attempts, e.delay_ms, e.status) for e in told] == [
            (1, 3, 300, "waiting"),
            (1, 3, 300, "retrying"),
            (1, 3, 300, "succeeded"),
        ]
        assert len(model.requests) == 2


async def test_b044_an_abort_ends_the_wait(tmp_path: Path) -> None:
    model = ScriptedModel([fail(limited(50)), say("hello")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("hi"))
        await on.until(lambda: on.session.state().phase == "retrying")
        begun = anyio.current_time()
        done = await on.session.turns.abort()
        assert done.aborted
        assert anyio.current_time() - begun < 2
        (ended,) = [e for e in on.events if isinstance(e, TurnEnded)]
        assert ended.reason == "aborted"
        assert [e.status for e in on.events if isinstance(e, RetryChanged)] == [
            "waiting",
            "cancelled",
        ]
        assert len(model.requests) == 1


async def test_b044_only_the_wait_is_ended(tmp_path: Path) -> None:
    model = ScriptedModel([fail(limited(50)), say("hello")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("hi"))
        await on.until(lambda: on.session.state().phase == "retrying")
        assert (await on.session.turns.abort("retry")).aborted
        await on.session.turns.wait()
        (ended,) = [e for e in on.events if isinstance(e, TurnEnded)]
        assert ended.error is not None
        assert (ended.reason, ended.error.code) == ("error", "rate_limited")
        await on.say("again")
        assert outline(model.requests[-1].messages) == ["user: hi", "user: again"]


async def test_b044_two_weeks_are_not_waited_for(tmp_path: Path) -> None:
    model = ScriptedModel([fail(limited(1_209_600))])
    async with stage(tmp_path, model) as on:
        await on.say("hi")
        (ended,) = [e for e in on.events if isinstance(e, TurnEnded)]
        assert ended.error is not None
        assert "14 days" in ended.error.message
        assert ended.error.retry_after == 1_209_600
        assert on.told(RetryChanged) == []
        assert len(model.requests) == 1
