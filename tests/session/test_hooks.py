"""Extensions in a real session: what they are asked, what they are told, what they may do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue
from tests.session.stage import Casting, Stage, no, outline, said, stage
from tests.session.test_compactor import SUMMARY

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import SessionError
from singletree.extensions.api import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BeforeAgentStart,
    BeforeCompact,
    BeforeFork,
    BeforeSwitch,
    BeforeTree,
    Block,
    Cancel,
    Compacted,
    Context,
    Deliver,
    ExtensionAPI,
    Handled,
    Input,
    MessageEnd,
    ModelSelected,
    OwnSummary,
    Payload,
    SessionShutdown,
    SessionStart,
    StepEnd,
    StepStart,
    ThinkingSelected,
    ToolCalled,
    ToolCalling,
    TreeMoved,
)
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
)
from singletree.messages import CustomMessage, Text, UserMessage
from singletree.model.base import ModelInfo
from singletree.model.scripted import ScriptedModel, call, say, wait
from singletree.session.events import (
    CompactionEnded,
    CompactionStarted,
    ExtensionFailed,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Warned,
)
from singletree.session.permission.gate import EDITED, Answer, Question
from singletree.session.settings.keys import Compaction, Settings

Setup = Callable[[ExtensionAPI], None]


def hearing(kind: type[Payload], answer: Callable[..., object]) -> Setup:
    """An extension with one handler."""

    def setup(api: ExtensionAPI) -> None:
        api.on(kind, answer)  # type: ignore[arg-type]  # handlers of tests are short lambdas

    return setup


def failures(on: Stage) -> list[tuple[str, str]]:
    return [(e.event, e.message) for e in on.events if isinstance(e, ExtensionFailed)]


def results(model: ScriptedModel) -> list[str]:
    return [line for line in outline(model.requests[-1].messages) if line.startswith("result")]


# -- asked before


async def test_an_extension_changes_what_a_person_says(tmp_path: Path) -> None:
    extension = hearing(Input, lambda given: given.but(text=f"{given.text} ({given.source})"))
    model = ScriptedModel([wait(0.2) + say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[extension]) as on:
        await on.session.turns.prompt(said("hi"))
        await on.session.turns.follow_up(said("more"))
        await on.session.turns.wait()
        assert outline(model.requests[-1].messages) == [
            "user: hi (prompt)",
            "assistant: one",
            "user: more (followUp)",
        ]


async def test_an_extension_takes_what_a_person_says(tmp_path: Path) -> None:
    extension = hearing(Input, lambda given: Handled("seen to") if given.text == "ping" else None)
    async with stage(tmp_path, ScriptedModel([say("one")]), extensions=[extension]) as on:
        done = await on.session.turns.prompt(said("ping"))
        assert (done.disposition, done.note) == ("handled", "seen to")
        assert not on.session.history.on_disk
        assert on.told(TurnStarted) == []
        await on.say("pong")
        assert outline(on.model.requests[0].messages) == ["user: pong"]


async def test_the_prompt_is_chained_and_messages_stand_behind_the_users(tmp_path: Path) -> None:
    def first(given: BeforeAgentStart) -> BeforeAgentStart:
        note = CustomMessage(custom_type="note", content=f"about {given.prompt}", display=False)
        return given.but(system=f"{given.system}\nONE", messages=(*given.messages, note))

    asked: list[str] = []

    def second(given: BeforeAgentStart) -> BeforeAgentStart:
        asked.append(given.prompt)
        return given.but(system=f"{given.system}\nTWO")

    model = ScriptedModel([call("bash", command="echo x"), say("one"), say("two")])
    extensions = [hearing(BeforeAgentStart, first), hearing(BeforeAgentStart, second)]
    async with stage(tmp_path, model, extensions=extensions) as on:
        await on.say("tests")
        assert outline(model.requests[0].messages) == ["user: tests", "user: about tests"]
        assert all(r.system.endswith("\nONE\nTWO") for r in model.requests)
        assert asked == ["tests"]
        entries = [e for e in on.session.history.path() if isinstance(e, CustomMessageEntry)]
        assert [(e.custom_type, e.display) for e in entries] == [("note", False)]
        await on.say("docs")
        assert asked == ["tests", "docs"]


async def test_an_extension_changes_a_request_and_not_the_conversation(tmp_path: Path) -> None:
    def shout(given: Context) -> Context:
        return given.but(messages=(*given.messages, UserMessage(content="be brief")))

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[hearing(Context, shout)]) as on:
        await on.say("a")
        await on.say("b")
        assert outline(model.requests[1].messages) == [
            "user: a",
            "assistant: one",
            "user: b",
            "user: be brief",
        ]
        assert on.session.state().message_count == 4


async def test_a_guard_blocks_a_call_before_people_are_asked(tmp_path: Path) -> None:
    guard = hearing(
        ToolCalling, lambda c: Block("No sudo.") if "sudo" in c.args["command"] else None
    )
    model = ScriptedModel([call("bash", command="sudo ls"), say("ok")])
    asked: list[object] = []

    async def ask(question: object) -> object:
        asked.append(question)
        raise AssertionError

    casting = Casting(ask, extensions=[guard])  # type: ignore[arg-type]  # never called
    async with stage(tmp_path, model, casting=casting) as on:
        await on.say("go")
        assert results(model) == ["result: No sudo."]
        assert asked == []


async def test_a_guard_that_fails_shuts(tmp_path: Path) -> None:
    def broken(given: ToolCalling) -> None:
        raise ValueError("oops")

    model = ScriptedModel([call("write", path="a", content="x"), say("ok")])
    async with stage(tmp_path, model, extensions=[hearing(ToolCalling, broken)]) as on:
        await on.say("go")
        assert not (on.folder / "a").exists()
        assert failures(on) == [("ToolCalling", "ValueError: oops")]
        assert [e.status for e in on.events if isinstance(e, ToolEnded)] == ["rejected"]


async def test_changed_arguments_are_checked_anew_and_judged_by_the_gate(tmp_path: Path) -> None:
    def elsewhere(given: ToolCalling) -> ToolCalling:
        path = given.args["path"]
        if path == "bad":
            return given.but(args={"path": "bad"})
        return given.but(args={**given.args, "path": "b"})

    model = ScriptedModel(
        [
            call("write", path="a", content="x") + call("write", path="bad", content="x"),
            say("ok"),
        ]
    )
    async with stage(tmp_path, model, extensions=[hearing(ToolCalling, elsewhere)]) as on:
        await on.say("go")
        assert sorted(p.name for p in on.folder.iterdir()) == ["b"]
        first, second = results(model)
        assert "b" in first
        assert second.startswith("result: Not run: an extension changed the arguments")
        assert "content" in second


async def test_the_gate_hears_what_would_really_run(tmp_path: Path) -> None:
    def elsewhere(given: ToolCalling) -> ToolCalling:
        return given.but(args={"command": "touch there"})

    titles: list[str | None] = []

    async def ask(question: object) -> object:
        titles.append(getattr(question, "command", None))
        return await no(question)  # type: ignore[arg-type]

    model = ScriptedModel([call("bash", command="echo"), say("ok")])
    casting = Casting(ask, extensions=[hearing(ToolCalling, elsewhere)])  # type: ignore[arg-type]
    async with stage(tmp_path, model, casting=casting) as on:
        await on.say("go")
        assert titles == ["touch there"]


async def test_what_a_person_changed_is_told_as_it_ran(tmp_path: Path) -> None:
    async def ask(question: Question) -> Answer:
        return Answer("allowed", edited_input={"command": "echo two"})

    model = ScriptedModel([call("bash", command="echo one"), say("ok")])
    async with stage(tmp_path, model, ask=ask) as on:
        await on.say("go")
        ran = [e.call.arguments for e in on.events if isinstance(e, ToolStarted | ToolEnded)]
        assert ran == [{"command": "echo two"}] * 2
        note = EDITED.format(arguments='{"command": "echo two"}')
        assert results(model) == [f"result: {note} two"]


async def test_an_extension_changes_what_a_call_gave_also_when_it_failed(tmp_path: Path) -> None:
    def masked(given: ToolCalled) -> ToolCalled:
        return given.but(content=(Text(text=f"masked {given.is_error}"),))

    model = ScriptedModel([call("read", path="a") + call("read", path="none"), say("ok")])
    async with stage(tmp_path, model, extensions=[hearing(ToolCalled, masked)]) as on:
        (on.folder / "a").write_text("secret")
        await on.say("go")
        assert results(model) == ["result: masked False", "result: masked True"]


async def test_a_handler_that_hangs_ends_at_its_limit(tmp_path: Path) -> None:
    async def hang(given: Payload) -> None:
        await anyio.sleep_forever()

    model = ScriptedModel([call("bash", command="echo x"), say("ok")])
    settings = Settings(extension_timeout_ms=50)
    extensions = [hearing(Input, hang), hearing(ToolCalling, hang), hearing(StepEnd, hang)]
    async with stage(tmp_path, model, settings=settings, extensions=extensions) as on:
        await on.say("go")
        assert results(model)[0].startswith("result: Not run: the extension g2")
        events = [event for event, _ in failures(on)]
        assert events == ["Input", "ToolCalling", "StepEnd", "StepEnd"]
        assert failures(on)[0][1] == "TimeoutError: gave no answer within 0.05 s"


# -- tools and commands


def counting_tool(name: str = "count") -> Tool:
    class CountArgs(Args):
        word: str

    async def run(args: CountArgs, tool_run: ToolRun) -> ToolOutput:
        return ToolOutput.text(str(len(args.word)))

    return Tool(name, "Count", "other", "Counts letters.", CountArgs, typed(CountArgs, run))


async def test_an_extensions_tool_is_one_of_the_sessions(tmp_path: Path) -> None:
    def setup(api: ExtensionAPI) -> None:
        api.tool(counting_tool())

    model = ScriptedModel([call("count", word="four"), say("ok")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        await on.say("go")
        assert "count" in [tool.name for tool in model.requests[0].tools]
        assert results(model) == ["result: 4"]
        on.session.choice.set_tools(["read"])
        assert on.session.state().tools == ("read",)


async def test_an_extensions_tool_takes_the_place_of_ours(tmp_path: Path) -> None:
    def setup(api: ExtensionAPI) -> None:
        api.tool(counting_tool("read"))

    model = ScriptedModel([call("read", word="three"), say("ok")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        await on.say("go")
        assert results(model) == ["result: 5"]
        assert on.session.state().tools.count("read") == 1


# -- told after


async def test_an_extension_is_told_of_a_turn_in_order(tmp_path: Path) -> None:
    heard: list[str] = []

    def setup(api: ExtensionAPI) -> None:
        def note(given: Payload) -> None:
            told = type(given).__name__
            if isinstance(given, MessageEnd):
                told += f" {given.message.role}"
            heard.append(told)

        for kind in (SessionStart, AgentStart, StepStart, MessageEnd, StepEnd, AgentEnd):
            api.on(kind, note)
        for last in (AgentSettled, SessionShutdown):
            api.on(last, note)

    model = ScriptedModel([call("bash", command="echo x"), say("ok")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        await on.say("go")
    assert heard == [
        "SessionStart",
        "MessageEnd user",
        "AgentStart",
        "StepStart",
        "MessageEnd assistant",
        "MessageEnd toolResult",
        "StepEnd",
        "StepStart",
        "MessageEnd assistant",
        "StepEnd",
        "AgentEnd",
        "AgentSettled",
        "SessionShutdown",
    ]


async def test_an_extension_is_told_of_choices_and_moves(tmp_path: Path) -> None:
    heard: list[Payload] = []

    def setup(api: ExtensionAPI) -> None:
        api.on(ModelSelected, heard.append)
        api.on(ThinkingSelected, heard.append)
        api.on(TreeMoved, heard.append)

    info = ModelInfo("p", "m", levels=("off", "high"))
    other = ScriptedModel([], ModelInfo("p", "other", levels=("off", "high")))
    first = ScriptedModel([say("one")], info)
    casting = Casting(
        extensions=[setup], find=lambda ref: other if ref.endswith("other") else first
    )
    async with stage(tmp_path, first, casting=casting) as on:
        on.session.choice.set_thinking("off")
        await on.say("a")
        leaf = on.session.history.leaf
        await on.session.choice.set_model("p/other")
        on.session.choice.set_thinking("high")
        user = on.session.history.rows("userOnly").rows[-1]
        await on.session.navigate(user.entry_id)
        where = on.session.history.leaf
        await on.until(lambda: len(heard) >= 3)
    assert heard[-1] == TreeMoved(where, leaf)
    assert ModelSelected("p/other", "p/m") in heard
    assert ThinkingSelected("high", "off") in heard


# -- forgetting and moving


def small(tmp_path: Path) -> Settings:
    return Settings(compaction=Compaction(reserve_tokens=10, keep_recent_tokens=1))


async def test_an_extension_makes_the_summary_itself(tmp_path: Path) -> None:
    seen: list[BeforeCompact] = []
    told: list[Compacted] = []

    def own(given: BeforeCompact) -> OwnSummary:
        seen.append(given)
        return OwnSummary("MINE", details={"by": "extension"})

    def setup(api: ExtensionAPI) -> None:
        api.on(BeforeCompact, own)
        api.on(Compacted, told.append)

    model = ScriptedModel([say("one"), say("two"), say("three")])
    async with stage(tmp_path, model, settings=small(tmp_path), extensions=[setup]) as on:
        await on.say("first")
        await on.say("second")
        done = await on.session.compact("dwell on x")
        assert len(model.requests) == 2
        entry = on.session.history.entry(done.entry_id)
        assert isinstance(entry, CompactionEntry)
        assert (entry.summary, entry.from_hook) == ("MINE", True)
        assert entry.details == {"by": "extension"}
        assert (seen[0].reason, seen[0].instructions) == ("manual", "dwell on x")
        assert [getattr(m, "content", None) for m in seen[0].messages[:1]] != [None]
        await on.say("third")
        assert "MINE" in outline(model.requests[-1].messages)[0]
    assert told == [Compacted(done.entry_id, "manual")]


async def test_an_extension_says_no_to_a_compaction(tmp_path: Path) -> None:
    extension = hearing(BeforeCompact, lambda given: Cancel("not now"))
    info = ModelInfo("p", "m", context_window=300)
    settings = Settings(compaction=Compaction(reserve_tokens=100, keep_recent_tokens=1))
    model = ScriptedModel([say("x" * 900), say("two")], info)
    async with stage(tmp_path, model, settings=settings, extensions=[extension]) as on:
        await on.say("first")
        await on.say("second")
        assert on.told(CompactionStarted) == []
        assert [e for e in on.events if isinstance(e, Warned)] == []
        with pytest.raises(SessionError) as caught:
            await on.session.compact()
        assert (caught.value.code, caught.value.message) == ("cancelled_by_extension", "not now")
        assert on.told(CompactionEnded) == []
        assert not on.session.turns.busy


async def test_an_extension_adds_to_what_a_summary_dwells_on(tmp_path: Path) -> None:
    extension = hearing(BeforeCompact, lambda given: given.but(instructions="names of colours"))
    model = ScriptedModel([say("one"), say("two"), say(SUMMARY)])
    async with stage(tmp_path, model, settings=small(tmp_path), extensions=[extension]) as on:
        await on.say("first")
        await on.say("second")
        await on.session.compact()
        assert "names of colours" in outline(model.requests[-1].messages)[0]


async def branched(on: Stage) -> str:
    """Two turns; the id of the first answer."""
    await on.say("first")
    leaf = on.session.history.leaf
    assert leaf is not None
    await on.say("second")
    return leaf


async def test_an_extension_sums_up_a_branch_and_names_it(tmp_path: Path) -> None:
    seen: list[BeforeTree] = []
    moved: list[TreeMoved] = []

    def own(given: BeforeTree) -> OwnSummary:
        seen.append(given)
        return OwnSummary("TRIED")

    def setup(api: ExtensionAPI) -> None:
        api.on(BeforeTree, lambda given: given.but(label="here"))
        api.on(BeforeTree, own)
        api.on(TreeMoved, moved.append)

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        target = await branched(on)
        old = on.session.history.leaf
        gone = await on.session.navigate(target, summarize=True)
        assert gone.summary_entry_id is not None
        made = on.session.history.entry(gone.summary_entry_id)
        assert isinstance(made, BranchSummaryEntry)
        assert (made.summary, made.from_hook, made.from_id) == ("TRIED", True, old)
        assert on.session.history.labels == {made.id: "here"}
        assert (seen[0].target_id, seen[0].old_leaf_id, seen[0].ancestor_id) == (
            target,
            old,
            target,
        )
        assert [m.role for m in seen[0].left_behind] == ["user", "assistant"]
        assert len(model.requests) == 2
    assert moved == [TreeMoved(made.id, old, made.id)]


async def test_an_extension_says_no_to_going_elsewhere(tmp_path: Path) -> None:
    extension = hearing(BeforeTree, lambda given: Cancel())
    async with stage(
        tmp_path, ScriptedModel([say("one"), say("two")]), extensions=[extension]
    ) as on:
        target = await branched(on)
        before = on.session.history.leaf
        with pytest.raises(SessionError) as caught:
            await on.session.navigate(target)
        assert caught.value.code == "cancelled_by_extension"
        assert on.session.history.leaf == before


async def test_an_extension_says_no_to_a_fork_and_to_another_session(tmp_path: Path) -> None:
    extensions = [
        hearing(BeforeFork, lambda given: Cancel("a")),
        hearing(BeforeSwitch, lambda g: Cancel()),
    ]
    async with stage(tmp_path, ScriptedModel([]), extensions=extensions) as on:
        with pytest.raises(SessionError, match="a"):
            await on.session.check_fork("e", "before")
        with pytest.raises(SessionError) as caught:
            await on.session.check_switch("new")
        assert caught.value.code == "cancelled_by_extension"


# -- acting


class Desk:
    """An extension that keeps its api, to act from outside."""

    def __init__(self) -> None:
        self.made: ExtensionAPI | None = None

    def __call__(self, api: ExtensionAPI) -> None:
        self.made = api

    @property
    def api(self) -> ExtensionAPI:
        assert self.made is not None
        return self.made


async def test_notes_are_kept_on_their_branch_and_never_sent(tmp_path: Path) -> None:
    desk = Desk()
    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[desk]) as on:
        await on.say("first")
        leaf = on.session.history.leaf
        assert leaf is not None
        value: JsonValue = {"n": 1}
        entry = on.session.history.entry(desk.api.append("todo", value))
        assert isinstance(entry, CustomEntry)
        assert desk.api.session.notes("todo") == [value]
        await on.say("second")
        assert outline(model.requests[1].messages)[-1] == "user: second"
        await on.session.navigate(leaf)
        assert desk.api.session.notes("todo") == []
        with pytest.raises(Exception, match="not for extensions"):
            desk.api.append("singletree.leaf", None)
        seen = desk.api.session
        assert (seen.session_id, seen.cwd, seen.idle) == (on.session.id, on.folder, True)
        assert [m.role for m in seen.messages()] == ["user", "assistant"]
    with pytest.raises(Exception, match="no open session"):
        desk.api.append("todo", 2)


async def test_a_message_to_an_idle_session_is_there_at_once(tmp_path: Path) -> None:
    desk = Desk()
    async with stage(tmp_path, ScriptedModel([say("one")]), extensions=[desk]) as on:
        desk.api.send("by the way", display=False)
        assert on.told(TurnStarted) == []
        await on.say("hi")
        assert outline(on.model.requests[0].messages) == ["user: by the way", "user: hi"]


async def test_a_message_may_begin_a_turn(tmp_path: Path) -> None:
    desk = Desk()
    async with stage(tmp_path, ScriptedModel([say("one")]), extensions=[desk]) as on:
        desk.api.send("look at this", trigger=True)
        await on.until(lambda: on.session.turns.last is not None)
        causes = [e.cause for e in on.events if isinstance(e, TurnStarted)]
        assert causes == ["extension"]
        assert outline(on.model.requests[0].messages) == ["user: look at this"]


async def test_a_message_for_the_next_turn_stands_behind_the_users(tmp_path: Path) -> None:
    desk = Desk()
    async with stage(tmp_path, ScriptedModel([say("one")]), extensions=[desk]) as on:
        desk.api.send("remember", deliver_as="nextTurn", trigger=True)
        await anyio.sleep(0.02)
        assert on.told(TurnStarted) == []
        await on.say("hi")
        assert outline(on.model.requests[0].messages) == ["user: hi", "user: remember"]


async def test_a_turn_that_an_extension_begins_is_a_next_turn_too(tmp_path: Path) -> None:
    desk = Desk()
    async with stage(tmp_path, ScriptedModel([say("one")]), extensions=[desk]) as on:
        desk.api.send("remember", deliver_as="nextTurn")
        desk.api.send("look at this", trigger=True)
        await on.until(lambda: on.session.turns.last is not None)
        assert outline(on.model.requests[0].messages) == ["user: look at this", "user: remember"]


@pytest.mark.parametrize(
    ("deliver_as", "expected"),
    [
        ("steer", ["user: go", "assistant:  call bash", "result: x", "user: psst"]),
        (
            "followUp",
            ["user: go", "assistant:  call bash", "result: x", "assistant: ok", "user: psst"],
        ),
    ],
)
async def test_a_message_while_a_turn_runs(
    tmp_path: Path, deliver_as: Deliver, expected: list[str]
) -> None:
    desk = Desk()
    model = ScriptedModel([call("bash", command="sleep 0.2; echo x"), say("ok"), say("ok2")])
    async with stage(tmp_path, model, extensions=[desk]) as on:
        await on.session.turns.prompt(said("go"))
        await on.until(lambda: len(model.requests) == 1)
        desk.api.send("psst", deliver_as=deliver_as)
        await on.session.turns.wait()
        assert outline(model.requests[-1].messages) == expected
        turns = len(on.told(TurnStarted))
        assert turns == (1 if deliver_as == "steer" else 2)


async def test_a_message_sent_when_a_run_ends_begins_nothing_by_itself(tmp_path: Path) -> None:
    desk = Desk()

    def setup(api: ExtensionAPI) -> None:
        desk(api)
        api.on(AgentEnd, lambda given: api.send("noted"))

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        await on.say("a")
        assert len(on.told(TurnStarted)) == 1
        await on.say("b")
        assert outline(model.requests[1].messages) == [
            "user: a",
            "assistant: one",
            "user: noted",
            "user: b",
        ]


async def test_an_extension_may_go_on_after_a_run(tmp_path: Path) -> None:
    def setup(api: ExtensionAPI) -> None:
        def again(given: AgentEnd) -> None:
            if len(given.messages) == 1 and not api.session.notes("asked"):
                api.append("asked", True)
                api.send("and the tests?", trigger=True)

        api.on(AgentEnd, again)

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, extensions=[setup]) as on:
        await on.say("a")
        assert outline(model.requests[-1].messages)[-1] == "user: and the tests?"
        assert [e.cause for e in on.events if isinstance(e, TurnStarted)] == ["prompt", "extension"]


async def test_opening_does_not_wait_for_an_extension_that_takes_its_time(tmp_path: Path) -> None:
    started: list[float] = []

    async def slow(given: SessionStart) -> None:
        started.append(anyio.current_time())
        await anyio.sleep_forever()

    casting = Casting(
        settings=lambda: Settings(extension_timeout_ms=100),
        extensions=[hearing(SessionStart, slow)],
    )
    async with stage(tmp_path, ScriptedModel([say("one")]), casting=casting) as on:
        await on.say("hi")
        assert started
        assert failures(on) == [("SessionStart", "TimeoutError: gave no answer within 0.1 s")]
