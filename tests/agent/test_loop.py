"""What a run does, told as stories: what was said, how the model answers, how it then reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from pydantic import BaseModel
from tests.agent.hands import Canned, Hands, SayArgs, spoken
from tests.scenario import check, read, show

from singletree.agent.calls import CUT, REVIEW_FAILED
from singletree.agent.config import Blocked, Changed, LoopConfig, LoopContext, Onward, Step, Waiting
from singletree.agent.events import (
    AgentEvent,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    RunEnded,
    StepEnded,
    ToolEnded,
    ToolStarted,
)
from singletree.agent.loop import EMPTY_ANSWER, run_loop
from singletree.agent.tool import Tool, ToolOutput
from singletree.errors import EmptyAnswer, ModelError, SessionError, ToolError
from singletree.messages import AgentMessage, AssistantMessage, ToolCall, UserMessage
from singletree.model.scripted import ScriptedModel, call, fail, say, think


def names(events: Sequence[AgentEvent]) -> list[str]:
    return [type(e).__name__ for e in events if not isinstance(e, MessageDelta)]


async def test_a_plain_answer_and_all_it_tells() -> None:
    played = await check("", "user: hi", [say("hello")], "user: hi\nassistant: hello")
    assert names(played.events) == [
        "RunStarted",
        "StepStarted",
        "MessageStarted",
        "MessageEnded",
        "MessageStarted",
        "MessageEnded",
        "StepEnded",
        "RunEnded",
    ]
    assert played.ended is not None
    assert (played.ended.reason, played.ended.error) == ("finished", None)


async def test_what_streams_and_what_is_stored_have_one_id() -> None:
    played = await check("", "user: hi", [say("hello").but(chunk=2)], "user: hi\nassistant: hello")
    started = [e for e in played.events if isinstance(e, MessageStarted)]
    ended = [e for e in played.events if isinstance(e, MessageEnded)]
    deltas = [e for e in played.events if isinstance(e, MessageDelta)]
    assert [e.id for e in started] == [e.id for e in ended]
    assert {d.id for d in deltas} == {ended[1].id}
    assert isinstance(started[1].message, AssistantMessage)
    assert started[1].message.content == []


async def test_a_prompt_keeps_the_id_of_its_entry() -> None:
    events: list[AgentEvent] = []
    prompts: list[Waiting] = [("e7", UserMessage(content="hi"))]
    config = LoopConfig(ScriptedModel([say("hello")]))
    await run_loop(prompts, LoopContext("", []), config, events.append)
    assert next(e.id for e in events if isinstance(e, MessageStarted)) == "e7"


async def test_a_tool_is_run_and_its_result_goes_back() -> None:
    model = ScriptedModel([say("I look.") + call("say", text="x"), say("done")])
    context = LoopContext("be brief", read("user: before\nassistant: yes"), [Hands().say()])
    await run_loop([(None, UserMessage(content="go"))], context, LoopConfig(model), lambda e: None)
    first, second = model.requests
    assert show(first.messages) == "user: before\nassistant: yes\nuser: go"
    assert show(second.messages) == (
        "user: before\nassistant: yes\nuser: go\n"
        'assistant: I look.\ncall say {"text": "x"}\nresult say: x'
    )
    assert first.system == "be brief"
    assert [tool.name for tool in first.tools] == ["say"]


async def test_calls_run_together_and_answer_in_source_order() -> None:
    hands = Hands()
    played = await check(
        "",
        "user: go",
        [call("say", text="slow", after=0.05) + call("say", text="fast"), say("ok")],
        """
user: go
call say {"text": "slow", "after": 0.05}
call say {"text": "fast"}
result say: slow
result say: fast
assistant: ok
""",
        tools=[hands.say()],
    )
    assert hands.diary == ["slow begins", "fast begins", "fast ends", "slow ends"]
    ends = [e.call.arguments["text"] for e in played.events if isinstance(e, ToolEnded)]
    assert ends == ["fast", "slow"]


async def test_one_sequential_tool_makes_the_whole_batch_wait() -> None:
    hands = Hands()
    await check(
        "",
        "user: go",
        [call("say", text="a", after=0.02) + call("calm", text="b") + call("say", text="c")],
        """
user: go
call say {"text": "a", "after": 0.02}
call calm {"text": "b"}
call say {"text": "c"}
result say: a
result calm: b
result say: c
assistant: The script is used up: all its 1 turns were played, and this is request 2.
""",
        tools=[hands.say(), hands.say("calm", sequential=True)],
    )
    assert hands.diary == [f"{x} {did}" for x in "abc" for did in ("begins", "ends")]


async def test_what_a_tool_raises_becomes_its_result() -> None:
    hands = Hands()
    played = await check(
        "",
        "user: go",
        [call("refuses") + call("fails") + call("group"), say("sorry")],
        """
user: go
call refuses {}
call fails {}
call group {}
result! refuses: no such file
  try another
result! fails: The tool failed: KeyError: 'x'
result! group: The tool failed: OSError: disk
assistant: sorry
""",
        tools=[
            hands.refuses("no such file\ntry another"),
            hands.fails(lambda: KeyError("x")),
            hands.fails(lambda: ExceptionGroup("g", [OSError("disk")]), "group"),
        ],
    )
    statuses = [e.status for e in played.events if isinstance(e, ToolEnded)]
    assert statuses == ["failed"] * 3


async def test_an_unknown_tool_names_the_known_ones() -> None:
    await check(
        "",
        "user: go",
        [call("gamma"), say("ok")],
        """
user: go
call gamma {}
result! gamma: There is no tool "gamma". You can call: say, stream.
assistant: ok
""",
        tools=[Hands().say(), Hands().stream()],
    )


async def test_a_cut_answer_runs_none_of_its_calls() -> None:
    hands = Hands()
    turn = call("say", text="a") + call("say", text="b")
    played = await check(
        "",
        "user: go",
        [turn.but(stop="length"), say("ok")],
        f"""
user: go
assistant [length]:
call say {{"text": "a"}}
call say {{"text": "b"}}
result! say: {CUT}
result! say: {CUT}
assistant: ok
""",
        tools=[hands.say()],
    )
    assert hands.diary == []
    assert not any(isinstance(e, ToolStarted) for e in played.events)


async def test_unreadable_arguments_are_never_run() -> None:
    hands = Hands()
    broken = ToolCall(id="c1", name="say", arguments={"text": "x"}, arguments_error="cut short")
    model = Canned([AssistantMessage(content=[broken], stop_reason="toolUse"), spoken("ok")])
    context = LoopContext("", [], [hands.say()])
    ended = await run_loop([], context, LoopConfig(model), lambda e: None)
    assert hands.diary == []
    assert "could not be read. cut short. Send it again" in show(ended.messages)


@pytest.mark.parametrize("stop", ["stop", "toolUse", "end_turn"])
async def test_calls_are_what_counts_whatever_the_stop_reason_says(stop: str) -> None:
    played = await check(
        "",
        "user: go",
        [call("say", text="a").but(stop=stop), say("ok").but(stop="toolUse")],
        (
            "user: go\n"
            + (f"assistant [{stop}]:\n" if stop == "end_turn" else "")
            + 'call say {"text": "a"}\nresult say: a\nassistant: ok'
        ),
        tools=[Hands().say()],
    )
    assert played.ended is not None
    assert played.ended.reason == "finished"


async def test_a_failure_keeps_what_was_streamed_and_is_handed_up() -> None:
    error = ModelError("overloaded", code="overloaded", retryable=True, retry_after=2)
    played = await check(
        "",
        "user: hi",
        [say("half an ans") + fail(error)],
        "user: hi\nassistant [error: overloaded]: half an ans",
    )
    assert played.ended is not None
    assert played.ended.reason == "error"
    assert played.ended.error is error
    assert isinstance(played.events[-2], StepEnded)


async def test_calls_of_a_failed_answer_are_not_run() -> None:
    hands = Hands()
    await check(
        "",
        "user: hi",
        [call("say", text="a") + fail("gone")],
        'user: hi\nassistant [error: gone]:\ncall say {"text": "a"}',
        tools=[hands.say()],
    )
    assert hands.diary == []


async def test_an_empty_answer_is_a_failure_that_may_be_retried() -> None:
    played = await check(
        "", "user: hi", [say(" \n")], f"user: hi\nassistant [error: {EMPTY_ANSWER}]:  \n  "
    )
    assert played.ended is not None
    assert isinstance(played.ended.error, EmptyAnswer)
    assert played.ended.error.retryable


async def test_an_answer_of_thought_alone_is_an_answer() -> None:
    await check("", "user: hi", [think("hm")], "user: hi\nthinking: hm")


async def test_an_answer_that_says_it_failed_has_failed() -> None:
    answer = AssistantMessage(stop_reason="error", error_message="refused")
    ended = await run_loop([], LoopContext("", []), LoopConfig(Canned([answer])), lambda e: None)
    assert ended.reason == "error"
    assert str(ended.error) == "refused"


class Queue:
    """A queue as an Agent keeps one: takes one at a time, or all."""

    def __init__(self, *texts: str, everything: bool = False) -> None:
        self.waiting: list[Waiting] = [(None, UserMessage(content=text)) for text in texts]
        self._everything = everything

    def take(self) -> Sequence[Waiting]:
        count = len(self.waiting) if self._everything else 1
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return taken

    def add(self, text: str) -> None:
        self.waiting.append((None, UserMessage(content=text)))


async def test_steering_waits_for_all_tools_of_the_answer() -> None:
    queue = Queue()
    await check(
        "",
        "user: go",
        [call("nudge") + call("say", text="b"), say("ok")],
        """
user: go
call nudge {}
call say {"text": "b"}
result nudge: done
result say: b
user: S1
assistant: ok
""",
        tools=[Hands().does("nudge", lambda: queue.add("S1")), Hands().say()],
        configure=lambda c: replace(c, take_steering=queue.take),
    )


@pytest.mark.parametrize(
    ("everything", "expected"),
    [
        (False, "user: go\nuser: S1\nassistant: a\nuser: S2\nassistant: b"),
        (True, "user: go\nuser: S1\nuser: S2\nassistant: a"),
    ],
)
async def test_two_steers_come_one_at_a_time_or_together(everything: bool, expected: str) -> None:
    queue = Queue("S1", "S2", everything=everything)
    await check(
        "",
        "user: go",
        [say("a"), say("b")],
        expected,
        configure=lambda c: replace(c, take_steering=queue.take),
    )


async def test_steering_that_comes_while_a_step_is_prepared_still_joins_it() -> None:
    queue = Queue()

    async def prepare(step: Step) -> Step | None:
        if step.index == 0:
            queue.add("S1")
        return None

    await check(
        "",
        "user: go",
        [say("a")],
        "user: go\nuser: S1\nassistant: a",
        configure=lambda c: replace(c, take_steering=queue.take, before_step=prepare),
    )


async def test_follow_ups_wait_until_the_model_would_stop() -> None:
    queue = Queue("F1", "F2")
    await check(
        "",
        "user: go",
        [call("say", text="x"), say("a"), say("b"), say("c")],
        """
user: go
call say {"text": "x"}
result say: x
assistant: a
user: F1
assistant: b
user: F2
assistant: c
""",
        tools=[Hands().say()],
        configure=lambda c: replace(c, take_follow_up=queue.take),
    )


async def test_no_queue_is_touched_after_a_failure() -> None:
    steers, follow_ups = Queue("S1", "S2"), Queue("F1")
    await check(
        "",
        "user: go",
        [fail("gone")],
        "user: go\nuser: S1\nassistant [error: gone]:",
        configure=lambda c: replace(c, take_steering=steers.take, take_follow_up=follow_ups.take),
    )
    assert (len(steers.waiting), len(follow_ups.waiting)) == (1, 1)


async def test_a_step_may_get_another_model_prompt_and_conversation() -> None:
    other = ScriptedModel([say("from the other")])

    async def prepare(step: Step) -> Step | None:
        if step.index == 0:
            return None
        shorter = tuple(read("summary: all that was\nuser: go"))
        return replace(step, model=other, thinking="high", system="new", messages=shorter)

    played = await check(
        "user: old\nassistant: older",
        "user: go",
        [call("say", text="x")],
        'user: go\ncall say {"text": "x"}\nresult say: x\nassistant: from the other',
        tools=[Hands().say()],
        configure=lambda c: replace(c, before_step=prepare),
    )
    request = other.requests[0]
    assert show(request.messages) == "user: go"
    assert (request.system, request.thinking) == ("new", "high")
    assert played.ended is not None


async def test_what_the_model_sees_is_made_in_two_stages() -> None:
    async def shout(messages: Sequence[AgentMessage]) -> Sequence[AgentMessage]:
        return [*messages, UserMessage(content="(from an extension)")]

    model = ScriptedModel([say("ok")])
    config = LoopConfig(model, transform_context=shout, to_llm=lambda ms: [read("user: all")[0]])  # type: ignore[list-item]
    await run_loop([], LoopContext("", read("user: hi")), config, lambda e: None)
    assert show(model.requests[0].messages) == "user: all"
    config = LoopConfig(ScriptedModel([say("ok")]), transform_context=shout)
    ended = await run_loop([], LoopContext("", read("user: hi")), config, lambda e: None)
    assert show(ended.messages) == "assistant: ok"


async def test_a_guard_may_block_change_or_break() -> None:
    hands = Hands()

    async def guard(tool_call: ToolCall, tool: Tool, args: BaseModel) -> Blocked | Changed | None:
        match tool_call.arguments["text"]:
            case "bad":
                return Blocked("The user said no.")
            case "odd":
                return Changed(SayArgs(text="even"), "[changed]")
            case "broken":
                raise RuntimeError("guard fell over")
        return None

    played = await check(
        "",
        "user: go",
        [
            call("say", text="bad")
            + call("say", text="odd")
            + call("say", text="broken")
            + call("say", text="good"),
            say("ok"),
        ],
        """
user: go
call say {"text": "bad"}
call say {"text": "odd"}
call say {"text": "broken"}
call say {"text": "good"}
result! say: The user said no.
result say: [changed]
  even
result! say: Not run: the check before this call failed (RuntimeError: guard fell over).
result say: good
assistant: ok
""",
        tools=[hands.say()],
        configure=lambda c: replace(c, before_tool=guard),
    )
    assert hands.diary == ["even begins", "good begins", "even ends", "good ends"]
    ends = [e.status for e in played.events if isinstance(e, ToolEnded)]
    assert ends == ["rejected", "rejected", "completed", "completed"]


async def test_a_reviewer_may_change_an_output_and_withholds_it_when_it_breaks() -> None:
    async def review(
        tool_call: ToolCall, tool: Tool, args: object, output: ToolOutput
    ) -> ToolOutput | None:
        match tool_call.arguments["text"]:
            case "secret":
                return ToolOutput.text("[removed]")
            case "broken":
                raise RuntimeError("no")
        return None

    await check(
        "",
        "user: go",
        [
            call("say", text="secret") + call("say", text="broken") + call("say", text="plain"),
            say("ok"),
        ],
        f"""
user: go
call say {{"text": "secret"}}
call say {{"text": "broken"}}
call say {{"text": "plain"}}
result say: [removed]
result! say: {REVIEW_FAILED.format(error="RuntimeError: no")}
result say: plain
assistant: ok
""",
        tools=[Hands().say()],
        configure=lambda c: replace(c, after_tool=review),
    )


async def test_finish_step_may_stop_the_run_before_queues_are_asked() -> None:
    queue = Queue("S1", "S2")
    queue.take()

    async def finish(message: AssistantMessage, results: Sequence[object]) -> Onward:
        queue.add("S3")
        return "stop" if len(results) == 1 else "go_on"

    played = await check(
        "",
        "user: go",
        [call("say", text="x")],
        'user: go\nuser: S2\ncall say {"text": "x"}\nresult say: x',
        tools=[Hands().say()],
        configure=lambda c: replace(c, take_steering=queue.take, finish_step=finish),
    )
    assert played.ended is not None
    assert played.ended.reason == "stopped"
    assert len(queue.waiting) == 1


async def test_an_endless_run_ends_at_its_limit_with_every_call_answered() -> None:
    played = await check(
        "",
        "user: go",
        [call("say", text="again").but(repeat=-1)],
        "user: go" + '\ncall say {"text": "again"}\nresult say: again' * 3,
        tools=[Hands().say()],
        configure=lambda c: replace(c, max_steps=3),
    )
    assert played.ended is not None
    assert played.ended.reason == "max_steps"


async def test_a_word_of_the_user_gives_the_run_new_steps() -> None:
    queue = Queue()
    hands = Hands()
    played = await check(
        "",
        "user: go",
        [call("say", text="1"), call("nudge"), call("say", text="3"), say("ok")],
        """
user: go
call say {"text": "1"}
result say: 1
call nudge {}
result nudge: done
user: S1
call say {"text": "3"}
result say: 3
assistant: ok
""",
        tools=[hands.say(), hands.does("nudge", lambda: queue.add("S1"))],
        configure=lambda c: replace(c, max_steps=2, take_steering=queue.take),
    )
    assert played.ended is not None
    assert played.ended.reason == "finished"


async def test_a_known_error_of_a_callback_ends_the_run_as_a_value() -> None:
    async def prepare(step: Step) -> Step | None:
        raise SessionError("disk full")

    played = await check(
        "",
        "user: go",
        [],
        "user: go",
        configure=lambda c: replace(c, before_step=prepare),
    )
    assert played.ended is not None
    assert (played.ended.reason, str(played.ended.error)) == ("error", "disk full")


async def test_a_broken_promise_is_told_and_raised() -> None:
    events: list[AgentEvent] = []

    async def finish(message: AssistantMessage, results: Sequence[object]) -> Onward:
        raise ValueError("a bug")

    config = LoopConfig(ScriptedModel([say("ok")]), finish_step=finish)
    with pytest.raises(ValueError, match="a bug"):
        await run_loop([], LoopContext("", []), config, events.append)
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert (last.reason, show(last.messages)) == ("error", "assistant: ok")
    assert str(last.error) == "ValueError: a bug"


async def test_an_error_of_the_listener_in_a_tool_ends_the_run_plainly() -> None:
    def emit(event: AgentEvent) -> None:
        if isinstance(event, ToolEnded) and event.call.arguments["text"] == "a":
            raise OSError("disk full")

    turn = call("say", text="a") + call("say", text="b", after=30)
    config = LoopConfig(ScriptedModel([turn]))
    with anyio.fail_after(5), pytest.raises(OSError, match="disk full"):
        await run_loop([], LoopContext("", [], [Hands().say()]), config, emit)


async def test_a_failed_tool_leaves_its_details_to_people() -> None:
    refusing = Hands().fails(lambda: ToolError("no", {"intended": "text"}))
    played = await check(
        "",
        "user: go",
        [call("fails"), say("ok")],
        "user: go\ncall fails {}\nresult! fails: no\nassistant: ok",
        tools=[refusing],
    )
    (ended,) = [e for e in played.events if isinstance(e, ToolEnded)]
    assert (ended.status, ended.output.details) == ("failed", {"intended": "text"})
