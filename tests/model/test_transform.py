"""A conversation made fit for one model, whatever others left in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.fake_server import Seen, broken_rule
from tests.model.talk import READ
from tests.model.test_memo import messages

from singletree.messages import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.transform import NO_RESULT, plain_id, prepare, sendable, short_hash

INFO = ModelInfo("fake", "m", api="openai-completions")


def calling(*ids: str, stop: str = "toolUse") -> AssistantMessage:
    return AssistantMessage(
        content=[ToolCall(id=i, name="read") for i in ids],
        api=INFO.api,
        provider=INFO.provider,
        model=INFO.id,
        stop_reason=stop,
    )


def result(call_id: str, text: str = "r") -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=text)


def story(spoken: list[Message]) -> list[str]:
    lines = []
    for message in prepare(spoken, INFO):
        match message:
            case UserMessage():
                lines.append(f"user {text_of(message.content)}")
            case AssistantMessage():
                lines.append("calls " + " ".join(c.id for c in message.tool_calls))
            case ToolResultMessage():
                text = text_of(message.content)
                lines.append(f"{message.tool_call_id}: {'lost' if text == NO_RESULT else text}")
    return lines


ASK = UserMessage(content="x")


@pytest.mark.parametrize(
    ("spoken", "told"),
    [
        ([ASK, calling("a"), result("a"), ASK], ["user x", "calls a", "a: r", "user x"]),
        ([ASK, calling("a", "b"), result("b")], ["user x", "calls a b", "b: r", "a: lost"]),
        ([ASK, calling("a"), ASK], ["user x", "calls a", "a: lost", "user x"]),
        ([ASK, calling("a"), calling("b")], ["user x", "calls a", "a: lost", "calls b", "b: lost"]),
        ([ASK, calling("a"), ASK, result("a")], ["user x", "calls a", "a: lost", "user x"]),
        ([ASK, calling("a"), result("a"), result("a")], ["user x", "calls a", "a: r"]),
        ([ASK, result("z"), ASK], ["user x", "user x"]),
        ([ASK, calling("a", stop="error"), result("a"), ASK], ["user x", "user x"]),
        ([ASK, calling("a", stop="aborted"), ASK], ["user x", "user x"]),
        (
            [ASK, calling("a"), calling("q", stop="error"), result("a"), ASK],
            ["user x", "calls a", "a: r", "user x"],
        ),
        ([ASK, calling("a", "a"), result("a")], ["user x", "calls a", "a: r"]),
    ],
)
def test_every_call_has_one_result_and_every_result_its_call(
    spoken: list[Message], told: list[str]
) -> None:
    assert story(spoken) == told


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=60)
@given(st.lists(messages, max_size=12))
def test_what_is_sent_breaks_no_rule(api: str, spoken: list[Message]) -> None:
    info = ModelInfo("fake", "m", api=api)
    body: Any = APIS[api].encode(info, ModelRequest("", tuple(spoken), (READ,)))
    if api == "openai-responses":
        calls = [i["call_id"] for i in body["input"] if i.get("type") == "function_call"]
        outputs = [i["call_id"] for i in body["input"] if i.get("type") == "function_call_output"]
        assert sorted(calls) == sorted(outputs)
    else:
        assert broken_rule(Seen("POST", "/", {}, body)) is None


@given(st.lists(messages, max_size=8))
def test_what_is_given_is_not_changed(spoken: list[Message]) -> None:
    before = [message.dump() for message in spoken]
    prepare(spoken, ModelInfo("other", "m", api="anthropic-messages"), lambda i, own: plain_id(i))
    assert [message.dump() for message in spoken] == before


def test_untouched_messages_are_the_same_objects() -> None:
    spoken: list[Message] = [ASK, calling("a"), result("a")]
    assert all(a is b for a, b in zip(prepare(spoken, INFO), spoken, strict=True))


@pytest.mark.parametrize(
    ("call_id", "plain"),
    [
        ("call_1", "call_1"),
        ("a b/c|d", "a_b_c_d"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 55 + "_" + short_hash("x" * 65)),
    ],
)
def test_plain_ids(call_id: str, plain: str) -> None:
    assert plain_id(call_id) == plain


@given(st.text(max_size=90), st.text(max_size=90), st.integers(20, 64))
def test_long_ids_stay_different(one: str, two: str, limit: int) -> None:
    new = plain_id(one, limit)
    assert len(new) <= limit
    if one != two and len(one) > limit and len(two) > limit:
        assert new != plain_id(two, limit)


def test_lone_surrogates_are_left_out() -> None:
    assert sendable("a\ud83db\ude42c \ud83d\ude42") == "abc 🙂"
    assert sendable("plain") == "plain"


def test_text_of_other_models_loses_its_signature_only() -> None:
    said = AssistantMessage(
        content=[Text(text="a", text_signature="sig")], provider="p", api="x", model="y"
    )
    new = prepare([said], INFO)[0]
    assert new.dump()["content"] == [{"type": "text", "text": "a"}]
