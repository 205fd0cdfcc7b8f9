"""The X-ray of a real session: what it tells is what was sent, and its sum is what decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.session.stage import outline, stage
from tests.session.test_compactor import SUMMARY
from tests.session.test_hooks import hearing

from singletree.context.xray import CORRECTION
from singletree.errors import UnknownEntry
from singletree.extensions.api import Context
from singletree.messages import AssistantMessage, Message, Text, Usage, UserMessage, text_of
from singletree.model.base import ModelInfo
from singletree.model.scripted import ScriptedModel, call, say
from singletree.session.settings.keys import Compaction, Settings
from singletree.session.tree.xray import Sight, earlier


def sent(seen: Sight) -> list[Message]:
    return [part.sent for part in seen.xray.parts if part.sent is not None]


def tokens(seen: Sight) -> int:
    return sum(part.tokens for part in seen.xray.parts)


async def test_what_it_tells_is_what_the_model_was_sent(tmp_path: Path) -> None:
    model = ScriptedModel([call("read", path="a.txt"), say("done")])
    async with stage(tmp_path, model) as on:
        (on.folder / "a.txt").write_text("hello")
        await on.say("read it")
        request = on.model.requests[-1]
        result = on.session.history.path()[-2].id
        seen = await on.session.sight(result)
        assert sent(seen) == list(request.messages)
        prompt = "\n\n".join(p.text for p in seen.xray.parts if p.kind.startswith("section:"))
        assert prompt == request.system
        tools = [p.kind for p in seen.xray.parts if p.kind.startswith("tool:")]
        assert tools == [f"tool:{tool.name}" for tool in request.tools]


async def test_the_sum_is_the_figure_that_decides(tmp_path: Path) -> None:
    async with stage(
        tmp_path, ScriptedModel([say("one"), say("two").but(usage=Usage(total_tokens=4321))])
    ) as on:
        await on.say("first")
        fresh = await on.session.sight()
        assert tokens(fresh) == fresh.xray.tokens == on.session.context_use().tokens
        await on.say("second")
        seen = await on.session.sight()
        assert tokens(seen) == seen.xray.tokens == on.session.context_use().tokens == 4321
        assert seen.measured == 4321
        last = seen.xray.parts[-1]
        assert (last.kind, last.preview) == ("correction", CORRECTION)


async def test_what_an_extension_drops_or_adds_is_told(tmp_path: Path) -> None:
    def brief(given: Context) -> Context:
        return given.but(messages=(*given.messages[2:], UserMessage(content="be brief")))

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[hearing(Context, brief)]) as on:
        await on.say("a")
        await on.say("b")
        asked = on.session.history.path()[-2].id
        seen = await on.session.sight(asked)
        assert outline(sent(seen)) == outline(model.requests[1].messages)
        assert seen.rules["extension"] == 2
        assert tokens(seen) == seen.xray.tokens


async def test_it_looks_at_any_entry_and_moves_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two"), say("three")])) as on:
        await on.say("first")
        await on.say("second")
        rows = on.session.history.rows("userOnly").rows
        await on.session.navigate(rows[1].entry_id)
        await on.say("otherwise")
        leaf, version = on.session.history.leaf, on.session.history.tree_version
        on.events.clear()
        seen = await on.session.sight(rows[1].entry_id)
        said = [text_of(m.content) for m in sent(seen) if isinstance(m, UserMessage)]
        assert said == ["first", "second"]
        assert seen.rules["off_path"] == 1
        assert (on.session.history.leaf, on.session.history.tree_version) == (leaf, version)
        assert on.events == []
        with pytest.raises(UnknownEntry):
            await on.session.sight("nothing")


async def test_what_was_compacted_away_is_told_entry_by_entry(tmp_path: Path) -> None:
    info = ModelInfo("scripted", "m", "scripted", context_window=100_000)
    model = ScriptedModel([say("one"), say("two"), say(SUMMARY)], info=info)
    settings = Settings(compaction=Compaction(keep_recent_tokens=1))
    async with stage(tmp_path, model, settings=settings) as on:
        await on.say("first")
        await on.say("second")
        before = await on.session.sight()
        await on.session.compact()
        seen = await on.session.sight()
        assert next(p.kind for p in seen.xray.parts if p.sent) == "compactionSummary"
        gone = earlier(on.session.history, seen.earlier)
        gone += [part for part in seen.xray.left_out if part.left_out == "compacted"]
        kept = [part.entry_id for part in seen.xray.parts if part.entry_id]
        told = sorted(part.entry_id or "" for part in gone if part.left_out == "compacted")
        was = {part.entry_id or "" for part in before.xray.parts if part.entry_id}
        assert told == sorted(was - set(kept))
        assert seen.rules["compacted"] == len(told)
        assert seen.window == 100_000
        assert seen.limits is not None
        assert any(isinstance(m, AssistantMessage) for m in sent(before))
        assert isinstance(sent(seen)[0].content, list | str | Text)
