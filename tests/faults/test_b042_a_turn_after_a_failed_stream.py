"""A stream that fails in a turn: tried again unseen, never replayed as an answer, not for ever."""

from __future__ import annotations

from pathlib import Path

from tests.session.stage import outline, stage

from singletree.errors import ModelError
from singletree.messages import AssistantMessage
from singletree.model.scripted import ScriptedModel, fail, say
from singletree.session.events import MessageEnded, RetryChanged, TurnEnded
from singletree.session.settings.keys import Retry, Settings

SOON = Settings(retry=Retry(base_delay_ms=1))
BUSY = ModelError("Overloaded", code="overloaded", retryable=True)


async def test_b042_before_any_word(tmp_path: Path) -> None:
    model = ScriptedModel([fail(BUSY), say("hello")])
    async with stage(tmp_path, model, settings=SOON) as on:
        await on.say("hi")
        answers = [m for m in on.session._talk.projection().messages if m.role == "assistant"]
        assert outline(answers) == ["assistant: hello"]  # type: ignore[arg-type]  # of these roles


async def test_b042_in_the_middle(tmp_path: Path) -> None:
    model = ScriptedModel([say("par") + fail(BUSY), say("hello"), say("again")])
    async with stage(tmp_path, model, settings=SOON) as on:
        await on.say("hi")
        ended = [e.message for e in on.events if isinstance(e, MessageEnded)]
        stops = [m.stop_reason for m in ended if isinstance(m, AssistantMessage)]
        assert stops == ["error", "stop"]
        await on.say("more")
        for request in model.requests[1:]:
            assert "par" not in " ".join(outline(request.messages))
        assert outline(model.requests[-1].messages) == [
            "user: hi",
            "assistant: hello",
            "user: more",
        ]


async def test_b042_not_for_ever(tmp_path: Path) -> None:
    model = ScriptedModel([fail(BUSY).but(repeat=-1)])
    async with stage(tmp_path, model, settings=SOON) as on:
        await on.say("hi")
        assert len(model.requests) == 4
        statuses = [e.status for e in on.events if isinstance(e, RetryChanged)]
        assert statuses == ["waiting", "retrying"] * 3 + ["failed"]
        (ended,) = [e for e in on.events if isinstance(e, TurnEnded)]
        assert ended.reason == "error"
        assert not on.session.turns.busy
