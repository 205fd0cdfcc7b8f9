"""A request that stays too large is given up soon, and the largest part of it is named."""

from __future__ import annotations

from pathlib import Path

from tests.faults.forgetful import Server, limits
from tests.session.stage import stage

from singletree.errors import ContextOverflow
from singletree.model.base import ModelRequest
from singletree.model.scripted import Turn, call, say
from singletree.session.events import CompactionStarted, TurnEnded
from singletree.session.settings.keys import Settings


def refused(request: ModelRequest) -> Turn:
    raise ContextOverflow("prompt is too long: 9001 tokens > 8000 maximum")


async def test_two_compactions_and_three_requests_at_most(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/big.txt").write_text("word " * 4000)
    server = Server([say("hello"), call("read", path="big.txt"), refused])
    async with stage(tmp_path, server.model, settings=limits(1000, 100)) as on:
        await on.say("hi")
        await on.say("read big.txt")
        ended = on.told(TurnEnded)[-1]
        assert isinstance(ended, TurnEnded)
        assert ended.reason == "error"
        assert ended.error is not None
        assert ended.error.code == "context_overflow"
        assert "the result of the tool read" in ended.error.message
        assert len(server.requests) - 2 <= 3
        assert len(on.told(CompactionStarted)) <= 2
        assert on.session.state().phase == "idle"


async def test_a_first_request_that_is_too_large_is_asked_once(tmp_path: Path) -> None:
    """Nothing stands before it that could be summed up: the message says what is too large."""
    server = Server([refused])
    async with stage(tmp_path, server.model, settings=limits(1000, 100)) as on:
        await on.say("word " * 4000)
        ended = on.told(TurnEnded)[-1]
        assert isinstance(ended, TurnEnded)
        assert ended.error is not None
        assert (ended.reason, ended.error.code) == ("error", "context_overflow")
        assert "message" in ended.error.message
        assert len(server.requests) + len(server.summaries) <= 3
        assert on.session.state().phase == "idle"


async def test_an_answer_that_nothing_was_compacted_for_is_not_hidden(tmp_path: Path) -> None:
    server = Server([say("word " * 200), refused])
    async with stage(tmp_path, server.model, settings=limits(1000, 100)) as on:
        await on.say("hi")
        await on.say("go on")
        types = [entry.type for entry in on.session.history.path()]
        assert len(on.told(CompactionStarted)) == types.count("compaction") == 1
        assert types[types.index("compaction") :].count("context_edit") == 0
        assert types[-1] == "message"


async def test_what_every_request_carries_is_named_as_well(tmp_path: Path) -> None:
    """Instructions larger than the window: no message is to blame, and going back helps nobody."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/AGENTS.md").write_text("Be kind. " * 4000)
    server = Server([refused])
    async with stage(tmp_path, server.model, settings=limits(1000, 100)) as on:
        await on.say("hi")
        ended = on.told(TurnEnded)[-1]
        assert isinstance(ended, TurnEnded)
        assert ended.error is not None
        assert "the section project_context of the system prompt" in ended.error.message
        assert "shorten it" in ended.error.message
        assert "9001 tokens > 8000" in ended.error.message


async def test_without_compaction_it_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    off = Settings.model_validate({"compaction": {"enabled": False}})
    server = Server([refused])
    async with stage(tmp_path, server.model, settings=off) as on:
        await on.say("word " * 4000)
        ended = on.told(TurnEnded)[-1]
        assert isinstance(ended, TurnEnded)
        assert ended.error is not None
        assert ended.error.code == "context_overflow"
        assert "a message of role user" in ended.error.message
        assert len(server.requests) == 1
