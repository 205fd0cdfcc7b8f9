"""What extensions may answer, in which order, and what their failures do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest
from pydantic import JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput
from singletree.errors import ExtensionError
from singletree.extensions.api import (
    SIGN_BYTES,
    Actions,
    AgentEnd,
    BeforeAgentStart,
    BeforeCompact,
    BeforeFork,
    Block,
    Cancel,
    Context,
    Deliver,
    ExtensionAPI,
    Handled,
    Input,
    OwnSummary,
    SessionShutdown,
    SessionStart,
    ToolCalled,
    ToolCalling,
)
from singletree.extensions.dialog import Dialog, Reply
from singletree.extensions.runner import Extensions, Failure, set_up
from singletree.extensions.sign import Sign
from singletree.messages import AgentMessage, CustomMessage, Text, ThinkingLevel, UserMessage


@dataclass
class Desk:
    """A session as extensions see it, that writes down what they do."""

    session_id: str = "s1"
    cwd: Path = Path("/w")
    model: str | None = "p/m"
    thinking: ThinkingLevel = "off"
    idle: bool = True
    done: list[object] = field(default_factory=list)

    def messages(self) -> Sequence[AgentMessage]:
        return [UserMessage(content="hi")]

    def notes(self, kind: str) -> Sequence[JsonValue]:
        return [data for k, data in (d for d in self.done if isinstance(d, tuple)) if k == kind]

    def append(self, kind: str, data: JsonValue) -> str:
        self.done.append((kind, data))
        return f"e{len(self.done)}"

    def send(self, message: CustomMessage, deliver_as: Deliver, *, trigger: bool) -> None:
        self.done.append([message.custom_type, message.content, deliver_as, trigger])

    async def show(self, dialog: Dialog) -> Reply:
        self.done.append(dialog.title)
        return Reply("seen", by="desk")

    def sign(self, sign: Sign) -> None:
        self.done.append(sign)


async def set_up_all(
    *setups: Callable[[ExtensionAPI], None], failures: list[Failure] | None = None
) -> Extensions:
    made = [await set_up(f"g{n}", setup) for n, setup in enumerate(setups, 1)]
    heard = [] if failures is None else failures
    return Extensions(made, heard.append)


def calling(command: str = "ls") -> ToolCalling:
    return ToolCalling("c1", "bash", {"command": command})


async def test_without_extensions_everything_stays_as_it_is() -> None:
    extensions = Extensions()
    payload = calling()
    fired = await extensions.fire(payload)
    assert fired.payload is payload
    assert fired.verdict is None
    assert not extensions.hears(ToolCalling)


async def test_each_handler_sees_what_the_one_before_made_of_it() -> None:
    def shout(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: given.but(text=given.text.upper()))

    def twice(api: ExtensionAPI) -> None:
        async def again(given: Input) -> Input:
            await anyio.lowlevel.checkpoint()
            return given.but(text=f"{given.text} {given.text}")

        api.on(Input, again)
        api.on(Input, lambda given: given.but(text=f"<{given.text}>"))

    extensions = await set_up_all(shout, twice)
    assert (await extensions.fire(Input("a"))).payload.text == "<A A>"
    assert extensions.hears(Input)


async def test_a_handler_owns_its_copy() -> None:
    def spoils(api: ExtensionAPI) -> None:
        def spoil(given: Context) -> None:
            message = given.messages[0]
            assert isinstance(message, UserMessage)
            assert isinstance(message.content, list)
            message.content.clear()

        api.on(Context, spoil)

    seen: list[int] = []

    def counts(api: ExtensionAPI) -> None:
        def count(given: Context) -> None:
            message = given.messages[0]
            assert isinstance(message, UserMessage)
            seen.append(len(message.content))

        api.on(Context, count)

    extensions = await set_up_all(spoils, counts)
    for many in (1, 500):
        message = UserMessage(content=[Text(text="x")])
        fired = await extensions.fire(Context((message,) * many))
        assert fired.payload.messages[0] is message
        assert message.content == [Text(text="x")]
    assert seen == [1, 1]


async def test_a_verdict_ends_the_chain() -> None:
    later: list[object] = []

    def first(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: Handled("done") if given.text == "/x" else None)
        api.on(ToolCalling, lambda given: Block("no") if "rm" in str(given.args) else None)
        api.on(BeforeFork, lambda given: Cancel("not now"))

    def second(api: ExtensionAPI) -> None:
        api.on(Input, later.append)
        api.on(ToolCalling, later.append)
        api.on(BeforeFork, later.append)

    extensions = await set_up_all(first, second)
    assert (await extensions.fire(Input("/x"))).verdict == Handled("done")
    assert (await extensions.fire(calling("rm x"))).verdict == Block("no")
    assert (await extensions.fire(BeforeFork("e1", "at"))).verdict == Cancel("not now")
    assert later == []
    assert (await extensions.fire(calling("ls"))).verdict is None
    assert len(later) == 1


async def test_the_newest_summary_counts_and_a_later_no_beats_it() -> None:
    def first(api: ExtensionAPI) -> None:
        api.on(BeforeCompact, lambda given: OwnSummary("one"))

    def second(api: ExtensionAPI) -> None:
        api.on(BeforeCompact, lambda given: OwnSummary("two", first_kept_entry_id="e5"))

    def third(api: ExtensionAPI) -> None:
        api.on(BeforeCompact, lambda given: Cancel() if given.reason == "manual" else None)

    extensions = await set_up_all(first, second, third)
    payload = BeforeCompact("threshold", (), "e3", 100)
    assert (await extensions.fire(payload)).verdict == OwnSummary("two", None, "e5")
    assert (await extensions.fire(payload.but(reason="manual"))).verdict == Cancel()


async def test_prompts_and_messages_gather_from_extension_to_extension() -> None:
    def adds(api: ExtensionAPI) -> None:
        def add(given: BeforeAgentStart) -> BeforeAgentStart:
            note = CustomMessage(custom_type=api.name, content="note")
            return given.but(system=f"{given.system}\n{api.name}", messages=(*given.messages, note))

        api.on(BeforeAgentStart, add)

    extensions = await set_up_all(adds, adds)
    fired = await extensions.fire(BeforeAgentStart("go", "base"))
    assert fired.payload.system == "base\ng1\ng2"
    assert [m.custom_type for m in fired.payload.messages] == ["g1", "g2"]


async def test_another_thread_may_look_but_not_act() -> None:
    held: list[ExtensionAPI] = []
    extensions = await set_up_all(held.append)
    desk = Desk()
    extensions.open(desk)
    (api,) = held

    def work() -> str:
        for act in (lambda: api.append("k", 1), lambda: api.send("x")):
            with pytest.raises(ExtensionError, match="only the event loop"):
                act()
        anyio.from_thread.run_sync(api.append, "k", 2)
        return api.session.session_id

    assert await anyio.to_thread.run_sync(work) == "s1"
    assert desk.done == [("k", 2)]


async def test_a_failing_extension_is_told_and_the_others_go_on() -> None:
    failures: list[Failure] = []

    def breaks(api: ExtensionAPI) -> None:
        def fall(given: Input) -> Input:
            raise ValueError("oops")

        api.on(Input, fall)

    def leaves(api: ExtensionAPI) -> None:
        def leave(given: Input) -> Input:
            raise SystemExit(3)

        api.on(Input, leave)

    def shout(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: given.but(text=given.text.upper()))

    extensions = await set_up_all(breaks, leaves, shout, failures=failures)
    assert (await extensions.fire(Input("a"))).payload.text == "A"
    assert failures == [
        Failure("g1", "Input", "ValueError: oops"),
        Failure("g2", "Input", "SystemExit: 3"),
    ]


async def test_a_failing_guard_shuts() -> None:
    failures: list[Failure] = []

    def breaks(api: ExtensionAPI) -> None:
        def fall(given: ToolCalling) -> None:
            raise ValueError("oops")

        api.on(ToolCalling, fall)

    extensions = await set_up_all(breaks, failures=failures)
    verdict = (await extensions.fire(calling())).verdict
    assert verdict == Block(
        "Not run: the extension g1, which checks such calls, failed (ValueError: oops)."
    )
    assert failures == [Failure("g1", "ToolCalling", "ValueError: oops")]


async def test_an_answer_nobody_asked_for_is_a_failure() -> None:
    failures: list[Failure] = []

    def odd(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: Block("no"))
        api.on(ToolCalled, lambda given: calling())
        api.on(AgentEnd, lambda given: given)
        api.on(ToolCalling, lambda given: Cancel())

    extensions = await set_up_all(odd, failures=failures)
    assert (await extensions.fire(Input("a"))).verdict is None
    await extensions.fire(ToolCalled("c1", "bash", {}, ()))
    await extensions.fire(AgentEnd(()))
    assert isinstance((await extensions.fire(calling())).verdict, Block)
    assert [f.message for f in failures] == [
        "TypeError: answered Input with Block, which it does not take",
        "TypeError: answered ToolCalled with ToolCalling, which it does not take",
        "TypeError: answered AgentEnd with AgentEnd, which it does not take",
        "TypeError: answered ToolCalling with Cancel, which it does not take",
    ]


async def test_a_handler_that_waits_ends_with_the_run() -> None:
    failures: list[Failure] = []

    def waits(api: ExtensionAPI) -> None:
        async def wait(given: ToolCalling) -> None:
            await anyio.sleep_forever()

        api.on(ToolCalling, wait)

    extensions = await set_up_all(waits, failures=failures)
    with anyio.move_on_after(0.01) as scope:
        await extensions.fire(calling())
    assert scope.cancelled_caught
    assert failures == []


async def test_a_handler_can_be_taken_back() -> None:
    heard: list[object] = []
    offs: list[Callable[[], None]] = []
    extensions = await set_up_all(lambda api: offs.append(api.on(Input, heard.append)))
    await extensions.fire(Input("a"))
    offs[0]()
    offs[0]()
    await extensions.fire(Input("b"))
    assert len(heard) == 1


def tool(name: str, label: str) -> Tool:
    async def run(args: object, tool_run: object) -> ToolOutput:
        return ToolOutput.text(label)

    return Tool(name, label, "other", "does", Args, run)


async def test_the_first_tool_of_a_name_counts_and_commands_are_numbered() -> None:
    failures: list[Failure] = []

    async def run(text: str) -> str | None:
        return text

    def one(api: ExtensionAPI) -> None:
        api.tool(tool("look", api.name))
        api.command("hello", api.name, run)

    def two(api: ExtensionAPI) -> None:
        one(api)
        api.tool(tool("see", api.name))

    extensions = await set_up_all(one, two, one, failures=failures)
    extensions.open(Desk())
    assert [(t.name, t.label) for t in extensions.tools] == [("look", "g1"), ("see", "g2")]
    assert {n: c.description for n, c in extensions.commands.items()} == {
        "hello": "g1",
        "hello:2": "g2",
        "hello:3": "g3",
    }
    assert [f.extension for f in failures] == ["g2", "g3"]


async def test_an_extension_acts_while_its_session_is_open_and_not_after() -> None:
    dropped: list[str] = []
    farewells: list[object] = []

    def remember(given: SessionStart) -> None:
        api.append("state", {"n": 1})

    def setup(api: ExtensionAPI) -> None:
        api.on(SessionStart, remember)
        api.on(SessionShutdown, farewells.append)

    api = await set_up("g1", setup, lambda: dropped.append("g1"))
    with pytest.raises(ExtensionError, match="no open session"):
        api.send("too early")
    extensions, desk = Extensions([api]), Desk()
    session: Actions = desk
    extensions.open(session)
    await extensions.fire(SessionStart("startup"))
    api.send("look", deliver_as="followUp", trigger=True)
    assert desk.done == [("state", {"n": 1}), ["g1", "look", "followUp", True]]
    assert api.session.notes("state") == [{"n": 1}]
    assert await api.show(Dialog("input", "Your name?")) == Reply("seen", by="desk")
    assert desk.done.pop() == "Your name?"
    api.sign("status", "busy")
    api.sign("widget", ["a", "b"], key="list")
    api.sign("widget", None, key="list")
    assert [desk.done.pop() for _ in range(3)] == [
        Sign("widget", "g1.list", None),
        Sign("widget", "g1.list", ["a", "b"]),
        Sign("status", "g1", "busy"),
    ]
    with pytest.raises(ExtensionError, match="must be JSON"):
        api.sign("status", float("nan"))
    with pytest.raises(ExtensionError, match="at most 65536 bytes"):
        api.sign("widget", "x" * SIGN_BYTES)
    await extensions.close(SessionShutdown("quit"))
    assert (len(farewells), dropped) == (1, ["g1"])
    with pytest.raises(ExtensionError, match="no open session"):
        api.append("state", None)
    with pytest.raises(ExtensionError, match="no open session"):
        await api.show(Dialog("confirm", "Sure?"))
    with pytest.raises(ExtensionError, match="no open session"):
        api.sign("status", "late")
    await extensions.fire(SessionStart("reload"))
    assert len(desk.done) == 2
