"""Commands that a person runs by hand."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.session.stage import Stage, outline, said, stage

from singletree.errors import SessionError
from singletree.extensions.api import Block, ExtensionAPI, UserBash
from singletree.messages import BashExecutionMessage
from singletree.model.scripted import ScriptedModel, call, say, wait
from singletree.session.events import BashOutput, EntryAppended, ToolEnded, ToolStarted, ToolUpdated
from singletree.session.user_bash import Ran


def entries(on: Stage) -> list[str]:
    return [getattr(getattr(e, "message", e), "role", e.type) for e in on.session.history.path()]


async def test_the_output_is_an_entry_that_the_model_sees(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        ran = await on.session.user_bash.run("echo one; echo two >&2; exit 3")
        assert (ran.message.output, ran.message.exit_code) == ("one\ntwo\n", 3)
        assert not on.session.history.on_disk
        told = "".join(e.text for e in on.events if isinstance(e, BashOutput))
        assert told == "one\ntwo\n"
        added = [e.entry.id for e in on.events if isinstance(e, EntryAppended)]
        assert added == [ran.entry_id]
        await on.say("hi")
        first = outline(on.model.requests[0].messages)[0]
        assert first.startswith("user: The user ran `echo one")
        assert first.endswith("Exit code: 3")


async def test_one_that_is_excluded_is_kept_and_not_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("ok")])) as on:
        await on.session.user_bash.run("echo x", exclude_from_context=True)
        await on.say("hi")
        assert outline(on.model.requests[0].messages) == ["user: hi"]
        assert "bashExecution" in entries(on)


async def test_while_a_turn_runs_the_entry_waits_for_its_end(tmp_path: Path) -> None:
    model = ScriptedModel([call("bash", command="sleep 0.3"), say("ok"), say("ok2")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: bool(on.told(ToolStarted)))
        ran = await on.session.user_bash.run("echo x")
        assert ran.message.output == "x\n"
        assert "bashExecution" not in entries(on)
        await on.session.turns.follow_up(said("more"))
        await on.session.turns.wait()
        assert [row.split(":")[0] for row in outline(model.requests[-1].messages)] == [
            "user",
            "assistant",
            "result",
            "assistant",
            "user",
            "user",
        ]
        assert "The user ran `echo x`" in outline(model.requests[-1].messages)[4]


async def test_an_aborted_turn_lets_the_entry_in(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(30) + say("late")])) as on:
        await on.session.turns.prompt(said("go"))
        ran = await on.session.user_bash.run("echo x")
        await on.session.turns.abort()
        assert on.session.history.path()[-1].id == ran.entry_id


async def test_it_runs_where_it_is_told_to(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        (on.folder / "sub").mkdir()
        ran = await on.session.user_bash.run("pwd", cwd="sub")
        assert ran.message.output == f"{on.folder}/sub\n"
        with pytest.raises(SessionError, match="does not exist"):
            await on.session.user_bash.run("pwd", cwd="none")
        with pytest.raises(SessionError) as caught:
            await on.session.user_bash.run("  ")
        assert caught.value.code == "input_empty"


async def test_an_abort_ends_it_and_keeps_what_it_said(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        done: list[Ran] = []

        async def run() -> None:
            done.append(await on.session.user_bash.run("echo begun; sleep 30"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await on.until(lambda: bool(on.told(BashOutput)))
            aborted = await on.session.turns.abort("bash")
        assert aborted.aborted
        assert done[0].message.cancelled
        assert done[0].message.output == "begun\n"
        assert not (await on.session.turns.abort("bash")).aborted


async def test_cancelling_the_request_ends_it_too(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([])) as on:
        with anyio.move_on_after(0.3) as scope:
            await on.session.user_bash.run("echo begun; sleep 30")
        assert scope.cancelled_caught
        await on.until(lambda: not on.session.user_bash.busy)
        last = on.session.history.path()[-1]
        message = getattr(last, "message", None)
        assert isinstance(message, BashExecutionMessage)
        assert message.cancelled


async def test_an_extension_changes_or_stops_it(tmp_path: Path) -> None:
    def setup(api: ExtensionAPI) -> None:
        def guard(given: UserBash) -> Block | UserBash:
            if "rm" in given.command:
                return Block("No rm.")
            return given.but(command=f"{given.command}; echo extension")

        api.on(UserBash, guard)

    async with stage(tmp_path, ScriptedModel([]), extensions=[setup]) as on:
        ran = await on.session.user_bash.run("echo me")
        assert ran.message.output == "me\nextension\n"
        with pytest.raises(SessionError) as caught:
            await on.session.user_bash.run("rm x")
        assert (caught.value.code, caught.value.message) == ("denied", "No rm.")


async def test_one_call_is_stopped_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            call("bash", command="echo a; sleep 30") + call("bash", command="echo b"),
            say("ok"),
        ]
    )
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: any(e.call.id == "call_2" for e in ended(on)))
        await on.until(
            lambda: any(isinstance(e, ToolUpdated) and e.text == "a\n" for e in on.events)
        )
        assert not (await on.session.turns.abort("tool", tool_call_id="call_2")).aborted
        assert (await on.session.turns.abort("tool", tool_call_id="call_1")).aborted
        await on.session.turns.wait()
        assert [(e.call.id, e.status) for e in ended(on)] == [
            ("call_2", "completed"),
            ("call_1", "cancelled"),
        ]
        first, second = outline(model.requests[1].messages)[-2:]
        assert first.startswith("result: a\n\n[Stopped: the user ended this call")
        assert second == "result: b"
        last = on.session.turns.last
        assert last is not None
        assert last.reason == "end_turn"


def ended(on: Stage) -> list[ToolEnded]:
    return [e for e in on.events if isinstance(e, ToolEnded)]
