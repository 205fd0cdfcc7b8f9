"""Another program writes into the file of an open session: nothing of it is lost or kept quiet."""

from __future__ import annotations

from pathlib import Path

from tests.history.made import encoded, said
from tests.session.stage import outline, stage

from singletree.model.scripted import ScriptedModel, say
from singletree.session.events import EntryAppended, Warned


async def test_what_another_program_adds_is_told_and_our_branch_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two")])) as on:
        await on.say("first")
        history = on.session.history
        leaf, file = history.leaf, history.file
        with file.open("ab") as out:
            out.write(encoded(said("feed0001", leaf, "theirs")) + b"{nonsense\n")
        on.events.clear()
        await on.say("second")
        appended = [e.entry.id for e in on.told(EntryAppended) if isinstance(e, EntryAppended)]
        assert appended[0] == "feed0001"
        warned = [e.code for e in on.told(Warned) if isinstance(e, Warned)]
        assert warned == ["foreign_writer", "broken_line"]
        assert [code for code, _ in on.session.state().notices][-2:] == warned
        assert outline(on.model.requests[-1].messages)[-1] == "user: second"
        assert leaf is not None
        assert history.tree.children(leaf) == appended[:2]


async def test_it_is_told_before_the_leaf_moves(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("first")
        history = on.session.history
        first = history.path()[-2].id
        file = history.file
        with file.open("ab") as out:
            out.write(encoded(said("feed0001", history.leaf, "theirs")))
        on.events.clear()
        await on.session.navigate(first)
        assert [type(event) for event in on.events][:2] == [EntryAppended, Warned]
