"""Stopping a run: at every single await the history left behind is one a strict provider takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import anyio
from anyio.lowlevel import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.agent.hands import Hands
from tests.scenario import check_accepted, show

from singletree.agent.calls import (
    INTERRUPTED,
    INTERRUPTED_AFTER,
    NOT_RUN,
    PARTIAL_LIMIT,
    STOPPED,
    STOPPED_WHILE,
)
from singletree.agent.config import LoopConfig, LoopContext, Step, Waiting
from singletree.agent.events import (
    AgentEvent,
    MessageEnded,
    MessageStarted,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolStarted,
)
from singletree.agent.loop import run_loop
from singletree.agent.tool import Tool
from singletree.messages import (
    AgentMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.scripted import ScriptedModel, Turn, call, fail, say, wait


@dataclass
class Stopped:
    """What a run that was stopped left behind."""

    events: list[AgentEvent] = field(default_factory=list)
    messages: list[AgentMessage] = field(default_factory=list)
    requests: int = 0
    requests_after: int = 0
    stopped: bool = False


async def stop_when(
    when: Callable[[AgentEvent], bool], turns: Sequence[Turn], tools: Sequence[Tool]
) -> Stopped:
    """Run and stop at the first event that fits."""
    seen = Stopped()
    model = ScriptedModel(turns)
    with anyio.CancelScope() as scope, anyio.fail_after(5):

        def emit(event: AgentEvent) -> None:
            seen.events.append(event)
            if when(event) and not scope.cancel_called:
                seen.requests = len(model.requests)
                scope.cancel()

        await run_loop(
            [(None, UserMessage(content="go"))],
            LoopContext("", [], tools),
            LoopConfig(model),
            emit,
        )
    seen.stopped = scope.cancelled_caught
    seen.requests_after = len(model.requests) - seen.requests
    last = seen.events[-1]
    assert isinstance(last, RunEnded)
    seen.messages = list(last.messages)
    return seen


def ends(name: str, count: int = 1) -> Callable[[AgentEvent], bool]:
    """The count-th event of this name."""
    left = [count]

    def fits(event: AgentEvent) -> bool:
        left[0] -= type(event).__name__ == name
        return left[0] == 0

    return fits


async def test_in_the_middle_of_an_answer() -> None:
    seen = await stop_when(ends("MessageDelta", 2), [say("hello").but(chunk=2, pause=0.01)], [])
    assert seen.stopped
    assert show(seen.messages) == "user: go\nassistant [aborted]: hell"
    last = seen.events[-1]
    assert isinstance(last, RunEnded)
    assert last.reason == "aborted"


async def test_before_the_first_word_of_an_answer() -> None:
    seen = await stop_when(ends("MessageStarted", 2), [wait(30) + say("late")], [])
    assert show(seen.messages) == "user: go\nassistant [aborted]:"


async def test_a_running_tool_keeps_what_it_told() -> None:
    seen = await stop_when(ends("ToolUpdated", 2), [call("stream")], [Hands().stream()])
    assert show(seen.messages) == (
        "user: go\ncall stream {}\nresult! stream: one\n  two\n  \n  " + INTERRUPTED_AFTER
    )
    assert seen.requests_after == 0
    assert [e.status for e in seen.events if isinstance(e, ToolEnded)] == ["cancelled"]


async def test_a_tool_may_answer_its_own_end() -> None:
    seen = await stop_when(
        ends("ToolUpdated", 2), [call("stream"), say("never")], [Hands().stream(catches=True)]
    )
    assert show(seen.messages) == (
        "user: go\ncall stream {}\nresult! stream: one\n  two\n  [killed]"
    )
    assert seen.requests_after == 0
    assert seen.stopped


async def test_each_call_of_a_sequential_batch_says_how_far_it_came() -> None:
    hands = Hands()
    turn = call("calm", text="a") + call("calm", text="b", after=30) + call("calm", text="c")
    seen = await stop_when(ends("ToolStarted", 2), [turn], [hands.say("calm", sequential=True)])
    assert show(seen.messages).splitlines()[-3:] == [
        "result calm: a",
        f"result! calm: {INTERRUPTED}",
        f"result! calm: {NOT_RUN}",
    ]


async def test_of_a_long_output_the_end_is_kept() -> None:
    seen = await stop_when(ends("ToolUpdated", 20_000), [call("count")], [Hands().counts()])
    result = seen.messages[-1]
    assert isinstance(result, ToolResultMessage)
    text = text_of(result.content)
    assert PARTIAL_LIMIT - 10 < len(text) <= PARTIAL_LIMIT + len(INTERRUPTED_AFTER) + 2
    assert text.endswith("\n19998\n19999\n\n" + INTERRUPTED_AFTER)


TURNS = st.lists(
    st.sampled_from(
        [
            call("say", text="a"),
            call("say", text="a") + call("say", text="b") + call("stream"),
            call("calm", text="a") + call("say", text="b"),
            call("unknown") + call("say", text="c"),
            call("say", text="d").but(stop="length"),
            say("words").but(chunk=1),
            say("half") + call("say", text="e") + fail("gone"),
        ]
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(turns=TURNS, ticks=st.integers(0, 60), steers=st.integers(0, 2), patient=st.booleans())
def test_at_any_await(turns: list[Turn], ticks: int, steers: int, patient: bool) -> None:
    anyio.run(_stop_after, turns, ticks, steers, patient)


async def _stop_after(turns: list[Turn], ticks: int, steers: int, patient: bool) -> None:
    model = ScriptedModel(turns)
    waiting: list[Waiting] = [(None, UserMessage(content=f"S{n}")) for n in range(steers)]
    events: list[AgentEvent] = []
    asked_at_stop = [-1]

    def take() -> Sequence[Waiting]:
        return [waiting.pop(0)] if waiting else []

    async def breathe(step: Step) -> Step | None:
        await checkpoint()
        return None

    hands = Hands()
    tools = [hands.say(), hands.say("calm", sequential=True), hands.stream(catches=patient)]
    config = replace(
        LoopConfig(model, take_steering=take, take_follow_up=take, before_step=breathe),
        max_steps=5,
    )

    async def run() -> None:
        with scope:
            prompts: list[Waiting] = [(None, UserMessage(content="go"))]
            await run_loop(prompts, LoopContext("", [], tools), config, events.append)

    scope = anyio.CancelScope()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            for _ in range(ticks):
                await checkpoint()
            asked_at_stop[0] = len(model.requests)
            scope.cancel()
    _is_whole(events)
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert len(model.requests) == asked_at_stop[0]
    check_accepted(last.messages)
    said = [text_of(m.content) for m in last.messages if isinstance(m, UserMessage)]
    left = [text_of(m.content) for _, m in waiting if isinstance(m, UserMessage)]
    assert said + left == ["go", *(f"S{n}" for n in range(steers))]


def _is_whole(events: Sequence[AgentEvent]) -> None:
    """What begins ends, once, and nothing is told after the end."""
    count: dict[type, int] = {}
    for event in events:
        count[type(event)] = count.get(type(event), 0) + 1
    assert count[RunStarted] == count[RunEnded] == 1
    assert isinstance(events[-1], RunEnded)
    started = [e.id for e in events if isinstance(e, MessageStarted)]
    assert started == [e.id for e in events if isinstance(e, MessageEnded)]
    assert 0 <= count.get(StepStarted, 0) - count.get(StepEnded, 0) <= 1
    begun = [e.call.id for e in events if isinstance(e, ToolStarted)]
    done = [e.call.id for e in events if isinstance(e, ToolEnded)]
    assert len(done) == len(set(done))
    assert set(begun) <= set(done)


async def test_a_stopped_scope_asks_no_model_even_if_nothing_waits() -> None:
    seen = await stop_when(
        ends("ToolEnded"), [call("say", text="a"), say("never")], [Hands().say()]
    )
    assert seen.requests_after == 0
    assert show(seen.messages) == 'user: go\ncall say {"text": "a"}\nresult say: a'


async def stop_one(
    model: ScriptedModel, tools: list[Tool], config: LoopConfig, name: str
) -> Stopped:
    """Run, and stop call `name` as soon as it is checked or runs."""
    seen = Stopped()

    async def stop() -> None:
        while name not in config.calls:  # noqa: ASYNC110  # the test waits for a moment in the loop
            await anyio.sleep(0.001)
        await anyio.sleep(0.02)
        config.calls[name].cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(stop)
        ended = await run_loop(
            [(None, UserMessage(content="go"))],
            LoopContext("", [], tools),
            config,
            seen.events.append,
        )
    seen.messages = list(ended.messages)
    return seen


async def test_one_call_alone_is_stopped() -> None:
    hands = Hands()
    model = ScriptedModel([call("say", text="a", after=30) + call("say", text="b"), say("ok")])
    config = LoopConfig(model)
    seen = await stop_one(model, [hands.say()], config, "call_1")
    assert show(seen.messages) == (
        'user: go\ncall say {"text": "a", "after": 30}\ncall say {"text": "b"}\n'
        f"result! say: {STOPPED_WHILE}\nresult say: b\nassistant: ok"
    )
    assert config.calls == {}


async def test_a_call_that_waits_for_its_check_is_stopped() -> None:
    async def forever(call: ToolCall, tool: Tool, args: BaseModel) -> None:
        await anyio.sleep_forever()

    model = ScriptedModel([call("say", text="a"), say("ok")])
    config = LoopConfig(model, before_tool=forever)
    seen = await stop_one(model, [Hands().say()], config, "call_1")
    assert show(seen.messages).splitlines()[2:] == [f"result! say: {STOPPED}", "assistant: ok"]
