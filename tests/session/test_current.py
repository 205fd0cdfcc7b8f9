"""Settings that change while a session lives: they count at the next turn."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import anyio.to_thread
from tests.session.stage import Casting, outline, said, stage
from tests.session.test_compactor import SUMMARY

from singletree.errors import ModelError
from singletree.model.base import ModelInfo
from singletree.model.scripted import ScriptedModel, call, fail, say
from singletree.session.events import CompactionEnded, QueueChanged, RetryChanged, Warned
from singletree.session.session import AgentSession
from singletree.session.settings.current import CurrentSettings
from singletree.session.settings.workspace_trust import WorkspaceTrust


def put(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), "utf-8")


def current(tmp_path: Path, *, trusted: bool = False) -> CurrentSettings:
    agent, work = tmp_path / "agent", tmp_path / "work"
    return CurrentSettings(agent, work, WorkspaceTrust(agent, work, trusted))


def casting(settings: CurrentSettings) -> Casting:
    return Casting(settings=lambda: settings.settings, refresh=settings.refresh)


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    user = tmp_path / "agent" / "settings.json"
    settings = current(tmp_path)
    assert list(settings.refresh()) == []
    first = settings.layers
    assert list(settings.refresh()) == []
    assert settings.layers is first
    put(user, maxSteps=7)
    assert list(settings.refresh()) == []
    assert settings.settings.max_steps == 7
    user.write_text("{broken", "utf-8")
    (told,) = settings.refresh()
    assert "is not valid JSON" in told
    assert settings.settings.max_steps == 500
    user.write_text("{broken ", "utf-8")
    assert list(settings.refresh()) == []
    user.unlink()
    assert list(settings.refresh()) == []


def test_a_workspace_counts_only_with_trust(tmp_path: Path) -> None:
    put(tmp_path / "work" / ".pi" / "settings.json", maxSteps=7)
    for trusted, steps in ((False, 500), (True, 7)):
        settings = current(tmp_path, trusted=trusted)
        settings.refresh()
        assert settings.settings.max_steps == steps


async def test_compaction_and_retry_count_at_the_next_turn(tmp_path: Path) -> None:
    user = tmp_path / "agent" / "settings.json"
    settings = current(tmp_path)
    info = ModelInfo("p", "m", context_window=100_000)
    busy = fail(ModelError("busy", retryable=True))
    model = ScriptedModel([say("one"), busy, say("two"), say(SUMMARY), say("three")], info)
    async with stage(tmp_path, model, casting=casting(settings)) as on:
        await on.say("first")
        await anyio.to_thread.run_sync(lambda: put(user, retry={"baseDelayMs": 1}))
        await on.say("second")
        delays = {e.delay_ms for e in on.events if isinstance(e, RetryChanged)}
        assert delays == {1}
        limits = {"reserveTokens": 99_000, "keepRecentTokens": 1}
        await anyio.to_thread.run_sync(lambda: put(user, compaction=limits))
        await on.say("third " + "x" * 4000)
        assert [e.reason for e in on.events if isinstance(e, CompactionEnded)][:1] == ["threshold"]


async def test_what_is_wrong_with_a_changed_file_is_told_once(tmp_path: Path) -> None:
    user = tmp_path / "agent" / "settings.json"
    settings = current(tmp_path)
    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, casting=casting(settings)) as on:
        await anyio.to_thread.run_sync(lambda: put(user, maxSteps="many"))
        await on.say("first")
        await on.say("second")
        (warned,) = [e for e in on.events if isinstance(e, Warned)]
        assert warned.code == "settings"
        assert "maxSteps" in warned.message
        assert on.session.state().notices == ((warned.code, warned.message),)


async def test_how_texts_are_taken_is_a_setting(tmp_path: Path) -> None:
    user = tmp_path / "agent" / "settings.json"
    settings = current(tmp_path)
    put(user, steeringMode="all", followUpMode="all")
    model = ScriptedModel([call("bash", command="sleep 0.2"), say("ok"), say("ok2")])
    async with stage(tmp_path, model, casting=casting(settings)) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: len(model.requests) == 1)
        await say_twice(on.session)
        await on.session.turns.wait()
        assert outline(model.requests[1].messages)[-2:] == ["user: a", "user: b"]
        on.session.queue.set_mode("followUp", "one-at-a-time")
        await anyio.to_thread.run_sync(lambda: put(user, maxSteps=9))
        await on.say("again")
        modes = on.session.queue.modes
        assert modes == {"steer": "one-at-a-time", "followUp": "one-at-a-time"}
        assert on.told(QueueChanged)


async def say_twice(session: AgentSession) -> None:
    await session.turns.steer(said("a"))
    await session.turns.steer(said("b"))
