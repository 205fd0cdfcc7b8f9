"""Going elsewhere and forgetting, in a real session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.session.stage import Stage, outline, said, stage

from singletree.errors import ModelError, SessionBusy, SessionError, UnknownEntry
from singletree.messages import Usage
from singletree.model.base import ModelInfo
from singletree.model.scripted import ScriptedModel, Turn, fail, say, wait
from singletree.session.events import CompactionEnded, TurnEnded
from singletree.session.settings.keys import Compaction, Settings

SUMMARY = """## Goal
g
## Constraints & Preferences
c
## Progress
### Done
d
### In Progress
i
### Blocked
b
## Key Decisions
k
## Next Steps
n
## Critical Context
x"""


async def test_going_to_a_user_message_gives_its_text_back(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two"), say("three")])) as on:
        await on.say("first")
        await on.say("second")
        second = on.session.history.rows("userOnly").rows[-1]
        gone = await on.session.navigate(second.entry_id)
        assert gone.editor_text == "second"
        await on.say("third")
        assert outline(on.model.requests[-1].messages) == [
            "user: first",
            "assistant: one",
            "user: third",
        ]


async def test_the_leaf_survives_a_restart(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two")])) as on:
        await on.say("first")
        leaf = on.session.history.leaf
        await on.say("second")
        assert leaf is not None
        await on.session.navigate(leaf)
        session_id = on.session.id
    async with stage(tmp_path, ScriptedModel([]), session_id=session_id) as on:
        assert on.session.history.leaf == leaf


async def test_a_summary_of_what_is_left_goes_along(tmp_path: Path) -> None:
    model = ScriptedModel([say("one"), say("two"), say(SUMMARY), say("three")])
    async with stage(tmp_path, model) as on:
        await on.say("first")
        leaf = on.session.history.leaf
        assert leaf is not None
        await on.say("the code is K7Q")
        gone = await on.session.navigate(leaf, summarize=True)
        assert gone.summary_entry_id == on.session.history.leaf
        await on.say("go on")
        sent = "\n".join(outline(model.requests[-1].messages))
        assert "K7Q" not in sent
        assert "## Goal" in sent


async def test_nothing_moves_while_a_turn_runs(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), wait(5) + say("two")])) as on:
        await on.say("first")
        leaf = on.session.history.leaf
        assert leaf is not None
        await on.session.turns.prompt(said("second"))
        with pytest.raises(SessionBusy):
            await on.session.navigate(leaf)
        await on.session.turns.abort()


async def test_an_unknown_entry_is_told(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        with pytest.raises(UnknownEntry):
            await on.session.navigate("nope")


async def test_compacting_by_hand(tmp_path: Path) -> None:
    model = ScriptedModel([say("a" * 400), say("b" * 400), say(SUMMARY), say("fine")])
    settings = Settings(compaction=Compaction(keep_recent_tokens=50))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("first")
        await on.say("second")
        done = await on.session.compact()
        assert done.tokens_after < done.tokens_before
        await on.say("go on")
        assert "## Goal" in outline(model.requests[-1].messages)[0]


async def test_a_failed_summary_changes_nothing(tmp_path: Path) -> None:
    broken = fail(ModelError("boom"))
    model = ScriptedModel([say("a" * 400), say("b" * 400), broken, say("hi")])
    settings = Settings(compaction=Compaction(keep_recent_tokens=50))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("first")
        await on.say("second")
        before = on.session.history.leaf
        with pytest.raises(ModelError):
            await on.session.compact()
        assert on.session.history.leaf == before
        assert [e.status for e in on.events if isinstance(e, CompactionEnded)] == ["failed"]
        await on.say("still there?")


async def test_a_short_conversation_has_nothing_to_compact(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("first")
        with pytest.raises(SessionError) as caught:
            await on.session.compact()
        assert caught.value.code == "nothing_to_compact"


async def test_a_full_window_is_compacted_before_the_next_step(tmp_path: Path) -> None:
    info = ModelInfo("scripted", "small", context_window=3000)
    model = ScriptedModel([say("a" * 6000), say("b" * 6000), say(SUMMARY), say("done")], info)
    settings = Settings(compaction=Compaction(reserve_tokens=500, keep_recent_tokens=600))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("first")
        await on.say("second")
        ended = [e for e in on.events if isinstance(e, CompactionEnded)]
        assert [(e.reason, e.status) for e in ended] == [("threshold", "completed")]


CUT = say("half an answ").but(stop="length", usage=Usage(input=2700, output=20, total_tokens=2720))


@asynccontextmanager
async def cut_by_a_full_window(tmp_path: Path, summary: Turn) -> AsyncIterator[Stage]:
    """A session whose last answer was cut because the window was full."""
    info = ModelInfo("scripted", "small", context_window=3000, max_output=1000)
    turns = [say("a" * 400), say("b" * 400), CUT, summary, say("whole")]
    model = ScriptedModel(turns, info)
    settings = Settings(compaction=Compaction(reserve_tokens=100, keep_recent_tokens=50))
    async with stage(tmp_path, model, settings=settings) as on:
        for words in ("first", "second", "third"):
            await on.say(words)
        yield on


async def test_an_answer_cut_by_a_full_window_is_made_again_after_compacting(
    tmp_path: Path,
) -> None:
    async with cut_by_a_full_window(tmp_path, say(SUMMARY).but(repeat=2)) as on:
        assert [e.reason for e in on.events if isinstance(e, TurnEnded)][-1] == "end_turn"
        shown = outline(on.model.requests[-1].messages)
        assert "## Goal" in shown[0]
        assert shown[-1] == "user: third"


async def test_an_answer_cut_by_a_full_window_stays_when_compacting_fails(tmp_path: Path) -> None:
    async with cut_by_a_full_window(tmp_path, fail(ModelError("boom"))) as on:
        ended = [e for e in on.events if isinstance(e, TurnEnded)][-1]
        assert (ended.reason, ended.error) == ("max_tokens", None)
        assert len(on.model.requests) == 4
        await on.say("go on")
        assert outline(on.model.requests[-1].messages)[-2:] == [
            "assistant: half an answ",
            "user: go on",
        ]
