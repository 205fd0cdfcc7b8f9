"""What a text means: commands, skills, templates, or just what it says."""

from __future__ import annotations

import base64
from pathlib import Path

import anyio
import pytest
from tests.session.stage import Casting, outline, said, stage
from tests.session.test_compactor import SUMMARY
from tests.tools.drawn import png

from singletree.errors import ExtensionError, SessionBusy, SingletreeError
from singletree.extensions.api import ExtensionAPI, Input
from singletree.messages import Image, Text
from singletree.model.scripted import ScriptedModel, say, wait
from singletree.session.events import CommandsChanged, ExtensionFailed, TurnStarted
from singletree.session.settings.keys import Compaction, Settings

SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nSweep first."
TEMPLATE = "---\ndescription: Review a file\nargument-hint: <file>\n---\nReview $1 for $2."


def folders(tmp_path: Path) -> None:
    agent_dir, work = tmp_path / "agent", tmp_path / "work"
    for path, text in {
        agent_dir / "skills" / "tidy" / "SKILL.md": SKILL,
        agent_dir / "prompts" / "review.md": TEMPLATE,
        work / ".pi" / "prompts" / "own.md": "Our own way.",
    }.items():
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")


def greeter(api: ExtensionAPI) -> None:
    async def greet(words: str) -> str | None:
        return f"Hello {words}" if words else None

    async def fail(words: str) -> str | None:
        raise ValueError("oops")

    async def slow(words: str) -> str | None:
        await anyio.sleep_forever()
        return None

    api.command("greet", "Greets", greet)
    api.command("fail", "Fails", fail)
    api.command("slow", "Never ends", slow)
    api.command("compact", "Is hidden by ours", greet)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/review a.py bugs", "Review a.py for bugs."),
        ("/review 'a b.py' bugs", "Review a b.py for bugs."),
        ("/unknown a", "/unknown a"),
        ("/usr/bin is a folder", "/usr/bin is a folder"),
        ("say /review a b", "say /review a b"),
        (" /review a b", " /review a b"),
        ("/", "/"),
        ("/own", "/own"),
    ],
)
async def test_templates(tmp_path: Path, text: str, expected: str) -> None:
    await anyio.to_thread.run_sync(folders, tmp_path)
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        await on.say(text)
        assert outline(on.model.requests[0].messages) == [f"user: {expected.strip()}"]


async def test_a_trusted_workspace_brings_its_own(tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(folders, tmp_path)
    casting = Casting(trusted=True)
    async with stage(tmp_path, ScriptedModel([say("ok")]), casting=casting) as on:
        await on.say("/own")
        assert outline(on.model.requests[0].messages) == ["user: Our own way."]


async def test_a_skill_unfolds_in_a_steering_text_too(tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(folders, tmp_path)
    model = ScriptedModel([wait(0.2) + say("one"), say("two")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.session.turns.steer(said("/skill:tidy the attic"))
        await on.session.turns.wait()
        last = outline(model.requests[-1].messages)[-1]
        assert "Sweep first." in last
        assert last.endswith("the attic")


async def test_pictures_stay_with_a_text_that_unfolds(tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(folders, tmp_path)
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        data = base64.b64encode(png(3, 3)).decode()
        picture = Image(data=data, mime_type="image/png")
        await on.session.turns.prompt([Text(text="/review a b"), picture])
        await on.session.turns.wait()
        content = getattr(on.model.requests[0].messages[0], "content", ())
        assert [block.type for block in content] == ["text", "image"]


async def test_extensions_hear_a_text_before_it_unfolds(tmp_path: Path) -> None:
    def setup(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: given.but(text=given.text.replace("!r", "/review")))

    await anyio.to_thread.run_sync(folders, tmp_path)
    async with stage(tmp_path, ScriptedModel([say("ok")]), extensions=[setup]) as on:
        await on.say("!r a b")
        assert outline(on.model.requests[0].messages) == ["user: Review a for b."]


async def test_an_extensions_command_runs_at_once_also_while_a_turn_runs(tmp_path: Path) -> None:
    model = ScriptedModel([wait(30) + say("late")])
    async with stage(tmp_path, model, extensions=[greeter]) as on:
        await on.session.turns.prompt(said("go"))
        done = await on.session.turns.prompt(said("/greet you all"))
        assert (done.disposition, done.note) == ("handled", "Hello you all")
        done = await on.session.turns.steer(said("/greet\nyou"))
        assert (done.disposition, done.note) == ("handled", "Hello you")
        done = await on.session.turns.follow_up(said("/greet"))
        assert (done.disposition, done.note) == ("handled", None)
        with pytest.raises(SessionBusy):
            await on.session.turns.prompt(said("/unknown"))
        assert on.session.queue.items == ()
        await on.session.turns.abort()


async def test_a_command_that_fails_is_told_to_who_gave_it(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([]), extensions=[greeter]) as on:
        with pytest.raises(ExtensionError, match=r"/fail failed \(ValueError: oops\)"):
            await on.session.turns.prompt(said("/fail"))
        assert [e.event for e in on.events if isinstance(e, ExtensionFailed)] == ["command"]
        with anyio.move_on_after(0.05) as scope:
            await on.session.turns.prompt(said("/slow"))
        assert scope.cancelled_caught
        assert on.told(TurnStarted) == []


async def test_the_same_client_message_runs_a_command_once(tmp_path: Path) -> None:
    ran: list[str] = []

    def setup(api: ExtensionAPI) -> None:
        async def run(words: str) -> str | None:
            ran.append(words)
            return None

        api.command("run", "Runs", run)

    async with stage(tmp_path, ScriptedModel([]), extensions=[setup]) as on:
        for _ in range(2):
            await on.session.turns.prompt(said("/run a"), client_message_id="c1")
        assert ran == ["a"]


async def test_our_own_commands(tmp_path: Path) -> None:
    settings = Settings(compaction=Compaction(reserve_tokens=10, keep_recent_tokens=1))
    model = ScriptedModel([say("one"), say("two"), say(SUMMARY)])
    async with stage(tmp_path, model, settings=settings, extensions=[greeter]) as on:

        async def run(text: str) -> str | None:
            return (await on.session.turns.prompt(said(text))).note

        assert await run("/name") == "The session has no name."
        assert await run("/name My\nwork ") == "The session is named My work."
        assert await run("/model") == "scripted/script answers."
        assert await run("/model any") == "scripted/script answers."
        assert await run("/thinking") == "Thinking: off."
        with pytest.raises(SingletreeError, match="no thinking level deep"):
            await run("/thinking deep")
        cannot = "Thinking: off. scripted/script is not known to think."
        assert await run("/thinking high") == cannot
        await on.say("first")
        await on.say("second")
        note = await run("/compact and keep the names")
        assert note is not None
        assert note.startswith("Compacted: ")
        assert "and keep the names" in outline(model.requests[-1].messages)[0]


async def test_the_list_of_commands(tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(folders, tmp_path)
    async with stage(tmp_path, ScriptedModel([]), extensions=[greeter]) as on:
        offered = await on.session.user_input.offered()
        rows = [(one.source, one.name, one.hint) for one in offered]
        assert rows == [
            ("builtin", "compact", "[what to keep in mind]"),
            ("builtin", "model", "[provider/id]"),
            ("builtin", "thinking", "[level]"),
            ("builtin", "name", "[name]"),
            ("extension", "greet", None),
            ("extension", "fail", None),
            ("extension", "slow", None),
            ("prompt", "review", "<file>"),
            ("skill", "skill:tidy", None),
        ]
        assert offered[-1].path == str(tmp_path / "agent" / "skills" / "tidy" / "SKILL.md")
    off = Settings(enable_skill_commands=False)
    async with stage(tmp_path, ScriptedModel([]), settings=off) as on:
        assert "skill" not in [one.source for one in await on.session.user_input.offered()]
        assert on.told(CommandsChanged) == []
