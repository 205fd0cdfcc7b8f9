"""What a run does, told as stories: what was said, how the model answers, how it then reads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.agent.hands import Canned, Hands, spoken
from tests.scenario import check, read, show

from singletree.agent.calls import CUT
from singletree.agent.config import LoopConfig, LoopContext, Waiting
from singletree.agent.events import (
    AgentEvent,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    StepEnded,
    ToolEnded,
    ToolStarted,
)
from singletree.agent.loop import EMPTY_ANSWER, NO_END, run_loop
from singletree.errors import EmptyAnswer, ModelError
from singletree.messages import AssistantMessage, ToolCall, UserMessage
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
    assert "could not be read (cut short)" in show(ended.messages)


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


async def test_a_stream_without_an_end_is_a_failure() -> None:
    ended = await run_loop([], LoopContext("", []), LoopConfig(Canned([])), lambda e: None)
    assert ended.error is not None
    assert (ended.error.message, ended.error.retryable) == (NO_END, True)


async def test_an_answer_that_says_it_failed_has_failed() -> None:
    answer = AssistantMessage(stop_reason="error", error_message="refused")
    ended = await run_loop([], LoopContext("", []), LoopConfig(Canned([answer])), lambda e: None)
    assert ended.reason == "error"
    assert str(ended.error) == "refused"
