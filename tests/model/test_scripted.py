"""The scripted model: turns, scenes, files, and that it breaks only where it is told to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from singletree.errors import ModelError, SettingsError
from singletree.messages import AssistantMessage, Message, ToolResultMessage, UserMessage, text_of
from singletree.model.base import (
    Delta,
    Model,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from singletree.model.partial_json import CUT
from singletree.model.script import CallPart, parse_script
from singletree.model.scripted import (
    ScriptedModel,
    Turn,
    call,
    fail,
    from_file,
    say,
    think,
    wait,
)


def asked(*messages: Message | str) -> ModelRequest:
    return ModelRequest(
        system="",
        messages=tuple(UserMessage(content=m) if isinstance(m, str) else m for m in messages),
    )


async def play(model: Model, request: ModelRequest) -> list[Delta]:
    heard: list[Delta] = []
    await model.answer(request, heard.extend)
    return heard


async def answer(model: Model, *messages: Message | str) -> AssistantMessage:
    return await model.answer(asked(*messages), lambda deltas: None)


async def text(model: Model, *messages: Message | str) -> str:
    return text_of((await answer(model, *messages)).content)


async def test_turns_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel([say("one"), say("two")])
    assert await text(model, "a") == "one"
    assert await text(model, "a", "b") == "two"
    assert [len(r.messages) for r in model.requests] == [1, 2]


async def test_used_up_it_says_so() -> None:
    model = ScriptedModel([say("one")])
    await text(model, "a")
    assert await text(model, "b") == (
        "The script is used up: all its 1 turns were played, and this is request 2."
    )


async def test_an_answer_of_many_parts() -> None:
    model = ScriptedModel([think("hm") + say("abcde") + call("read", path="a") + call("ls")])
    events: list[Delta] = []
    message = await model.answer(asked("x"), events.extend)
    assert events == [
        ThinkingDelta(0, "hm"),
        TextDelta(1, "abcde"),
        ToolCallDelta(2, "call_1", "read", '{"path": "a"}'),
        ToolCallDelta(3, "call_2", "ls", "{}"),
    ]
    assert message.stop_reason == "toolUse"
    assert [c.arguments for c in message.tool_calls] == [{"path": "a"}, {}]


async def test_broken_arguments_are_marked_as_a_provider_s_would_be() -> None:
    half = '{"path": "a.txt", "text": "li'
    message = await answer(ScriptedModel([Turn((CallPart("write", raw=half),))]), "x")
    call_ = message.tool_calls[0]
    assert (call_.arguments, call_.arguments_error) == ({"path": "a.txt", "text": "li"}, CUT)


async def test_chunks_join_to_the_text() -> None:
    events = await play(ScriptedModel([say("abcdefg").but(chunk=3)]), asked("x"))
    assert events == [TextDelta(0, "abc"), TextDelta(0, "def"), TextDelta(0, "g")]


async def test_it_fails_in_the_middle() -> None:
    seen: list[Delta] = []
    boom = ModelError("gone", retryable=True)
    with pytest.raises(ModelError) as caught:
        await ScriptedModel([say("half") + fail(boom)]).answer(asked("x"), seen.extend)
    assert caught.value is boom
    assert seen == [TextDelta(0, "half")]


async def test_a_made_up_id_is_not_one_of_the_conversation() -> None:
    before = await answer(ScriptedModel([call("ls")]), "x")
    result = ToolResultMessage(tool_call_id="call_1")
    again = await answer(ScriptedModel([call("ls")]), "x", before, result)
    assert [c.id for c in again.tool_calls] == ["call_2"]


async def test_a_turn_may_be_made_from_the_request() -> None:
    model = ScriptedModel([lambda request: say(f"{len(request.messages)} messages")])
    assert await text(model, "a", "b") == "2 messages"


async def test_repeat_plays_for_ever_or_so_many_times() -> None:
    for_ever = ScriptedModel([call("ls").but(repeat=-1)])
    assert [(await answer(for_ever, "x")).stop_reason for _ in range(50)] == ["toolUse"] * 50
    twice = ScriptedModel([say("a").but(repeat=2), say("b")])
    assert [await text(twice, "x") for _ in range(3)] == ["a", "a", "b"]


async def test_it_sleeps_only_where_told() -> None:
    started = time.monotonic()
    await play(ScriptedModel([say("x" * 80_000).but(chunk=8)]), asked("x"))
    with anyio.move_on_after(0.05) as scope:
        await play(ScriptedModel([say("a") + wait(30) + say("b")]), asked("x"))
    assert scope.cancelled_caught
    assert time.monotonic() - started < 10


async def test_a_long_answer_lets_others_run_and_can_be_cancelled() -> None:
    heard: list[Delta] = []

    def hear(deltas: Sequence[Delta]) -> None:
        heard.extend(deltas)
        if len(heard) == 10:
            scope.cancel()

    with anyio.CancelScope() as scope:
        await ScriptedModel([say("x" * 1000).but(chunk=1)]).answer(asked("x"), hear)
    assert scope.cancelled_caught
    assert len(heard) < 100


FILE = """\
// a play
{"model": {"name": "Stage", "contextWindow": 8000, "levels": ["off", "high"]}}
{"thinking": "Hm.", "text": "Yes.", "call": "read", "args": {"path": "a.txt"}}
{"text": "ab", "times": 3, "chunk": 2, "usage": {"input": 900, "output": 7}, "stop": "length"}

{"when": "TEST", "loop": true}
{"calls": [{"tool": "ls"}, {"tool": "bash", "args": {"command": "make"}, "id": "c7"}]}
{"parts": [{"text": "half"}, {"error": "busy", "code": "overloaded", "retryable": true}]}
"""


async def test_a_file_of_scenes(tmp_path: Path) -> None:
    path = tmp_path / "play.jsonl"
    path.write_text(FILE, "utf-8")
    model = await anyio.to_thread.run_sync(from_file, path)
    info = model.info
    assert (info.ref, info.name, info.context_window) == ("scripted/play.jsonl", "Stage", 8000)
    assert info.reasoning
    first = await answer(model, "hello")
    assert [b.type for b in first.content] == ["thinking", "text", "toolCall"]
    calls = (await answer(model, "run the tests")).tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [
        ("call_2", "ls", {}),
        ("c7", "bash", {"command": "make"}),
    ]
    second = await answer(model, "hello", first, ToolResultMessage(tool_call_id="call_1"))
    assert (second.stop_reason, second.usage.used) == ("length", 907)
    assert text_of(second.content) == "ababab"
    with pytest.raises(ModelError, match="busy") as caught:
        await answer(model, "run the tests")
    assert (caught.value.code, caught.value.retryable) == ("overloaded", True)
    assert len((await answer(model, "test again")).tool_calls) == 2
    assert "used up" in await text(model, "hello")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1"),
        ('{"txet": "x"}', "txet: Extra inputs"),
        ('{"text": 3}', "text: Input should be a valid string"),
        ("[]", "line 1"),
    ],
)
def test_a_wrong_line_is_named(line: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        parse_script(line)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nothing\.jsonl"):
        from_file(tmp_path / "nothing.jsonl")


def test_repeat_and_delay_are_read() -> None:
    script = parse_script('{"text": "a", "repeat": true, "delay": 2}\n{"text": "b", "repeat": 3}')
    turns = [t for t in script.scenes[0].turns if isinstance(t, Turn)]
    assert [t.repeat for t in turns] == [-1, 3]
    assert turns[0] == (wait(2) + say("a")).but(repeat=-1)
