"""Bodies that reuse what was encoded before: always equal to those made from nothing."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.talk import READ

from singletree.messages import (
    LEVELS,
    AssistantMessage,
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.form import encode
from singletree.model.memo import Memo
from singletree.model.thinking import levels_of

GIF = base64.b64encode(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;").decode()
PICTURE = Image(data=GIF, mime_type="image/gif")
IDS = st.sampled_from(["c1", "c2", "c|3", "c:4", "x" * 70 + "1", "x" * 70 + "2"])
WORDS = st.sampled_from(["", " ", "hi", "é\ud83d", "long " * 9])


def said(blocks: list[Block], stop: str, own: bool) -> AssistantMessage:
    return AssistantMessage(
        content=blocks,
        api="openai-completions",
        provider="fake",
        model="m" if own else "other",
        stop_reason=stop,
    )


blocks = st.one_of(
    WORDS.map(lambda t: Text(text=t)),
    st.builds(lambda t, s: Thinking(thinking=t, thinking_signature=s), WORDS, WORDS),
    st.builds(lambda i: ToolCall(id=i, name="read", arguments={"path": i}), IDS),
)
shown: st.SearchStrategy[Block] = st.one_of(WORDS.map(lambda t: Text(text=t)), st.just(PICTURE))
content = st.one_of(WORDS, st.lists(shown))
messages = st.one_of(
    content.map(lambda c: UserMessage(content=c)),
    st.builds(
        said,
        st.lists(blocks, max_size=3),
        st.sampled_from(["stop", "toolUse", "length", "error", "aborted"]),
        st.booleans(),
    ),
    st.builds(
        lambda i, c, e: ToolResultMessage(tool_call_id=i, tool_name="read", content=c, is_error=e),
        IDS,
        content,
        st.booleans(),
    ),
)


def info(api: str, **fields: Any) -> ModelInfo:
    return ModelInfo(
        "fake", "m", api=api, images=True, reasoning=True, levels=levels_of(True, {}), **fields
    )


def check(
    memo: Memo,
    model: ModelInfo,
    spoken: Sequence[Message],
    session: str = "s",
    thinking: ThinkingLevel = "off",
) -> bytes:
    request = ModelRequest("You.", tuple(spoken), (READ,), thinking, session_id=session)
    body = memo.encode(request)
    whole = encode(APIS[model.api].form, model, request)
    sent = json.dumps(whole, ensure_ascii=False).encode("utf-8", "ignore")
    assert json.loads(body) == json.loads(sent)
    return body


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=40)
@given(st.lists(messages, max_size=14), st.data())
def test_a_conversation_that_grows(api: str, spoken: list[Message], draw: st.DataObject) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    sizes = draw.draw(st.lists(st.integers(0, len(spoken)), max_size=6))
    for size in sorted(sizes):
        check(memo, model, spoken[:size])
    check(memo, model, spoken)


@pytest.mark.parametrize(
    "compat", [{"cacheControlFormat": "anthropic"}, {"supportsMidConvoEffort": True}]
)
@pytest.mark.parametrize("api", APIS)
@settings(max_examples=25)
@given(st.lists(messages, max_size=12), st.lists(st.sampled_from(LEVELS), max_size=6))
def test_marks_and_levels_that_stand_between_messages(
    api: str, compat: dict[str, Any], spoken: list[Message], levels: list[ThinkingLevel]
) -> None:
    model = info(api, compat=compat)
    memo = Memo(APIS[api].form, model)
    own: list[Message] = [
        m.model_copy(update={"api": api, "thinking_level": LEVELS[n % len(LEVELS)]})
        if isinstance(m, AssistantMessage)
        else m
        for n, m in enumerate(spoken)
    ]
    for n, level in enumerate(levels):
        check(memo, model, own[: len(own) * n // len(levels)], thinking=level)
    check(memo, model, own, thinking="high")


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.lists(messages, max_size=6)), max_size=8))
def test_many_conversations_in_any_order(api: str, asked: list[tuple[str, list[Message]]]) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    for session, spoken in asked:
        check(memo, model, spoken, session)


def conversation(turns: int) -> list[Message]:
    spoken: list[Message] = []
    for n in range(turns):
        spoken.append(UserMessage(content=f"do {n}"))
        spoken.append(said([ToolCall(id=f"c{n}", name="read")], "toolUse", True))
        spoken.append(ToolResultMessage(tool_call_id=f"c{n}", tool_name="read", content="x"))
        spoken.append(said([Text(text="done")], "stop", True))
    return spoken


@pytest.mark.parametrize("api", APIS)
def test_answers_in_a_row_stay_together(api: str) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    row = [said([Text(text=word)], "stop", True) for word in ("one", "two", "three")]
    spoken: list[Message] = [UserMessage(content="do"), *row, UserMessage(content="go")]
    for size in range(1, len(spoken) + 1):
        check(memo, model, spoken[:size])


@pytest.mark.parametrize("api", APIS)
def test_only_what_is_new_is_encoded(api: str) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    spoken = [*conversation(30), UserMessage(content="go")]
    request = ModelRequest("", tuple(spoken), session_id="s")
    assert memo.fresh(request) == 121
    memo.encode(request)
    assert memo.fresh(request) == 1
    spoken += [said([ToolCall(id="z", name="read")], "toolUse", True)]
    spoken += [ToolResultMessage(tool_call_id="z", content="x")]
    assert memo.fresh(ModelRequest("", tuple(spoken), session_id="s")) == 3
    check(memo, model, spoken)


@pytest.mark.parametrize("api", APIS)
def test_of_a_long_run_of_tools_only_the_last_answer_is_encoded_again(api: str) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    spoken: list[Message] = [UserMessage(content="go")]
    for n in range(20):
        spoken.append(said([ToolCall(id=f"c{n}", name="read")], "toolUse", True))
        spoken.append(ToolResultMessage(tool_call_id=f"c{n}", tool_name="read", content="x"))
        check(memo, model, spoken)
        assert memo.fresh(ModelRequest("", tuple(spoken), session_id="s")) == 2


@pytest.mark.parametrize("api", APIS)
def test_a_changed_beginning_is_noticed(api: str) -> None:
    model = info(api)
    memo = Memo(APIS[api].form, model)
    spoken = [*conversation(3), UserMessage(content="go")]
    first = check(memo, model, spoken)
    spoken[0] = UserMessage(content="something else")
    assert check(memo, model, spoken) != first


def test_marks_far_back_are_set_in_a_grown_conversation() -> None:
    model = info("openai-completions", compat={"cacheControlFormat": "anthropic"})
    memo = Memo(APIS[model.api].form, model)
    for turns in (1, 2, 3):
        check(memo, model, conversation(turns))


def test_many_pictures_change_the_rule_for_all() -> None:
    model = info("anthropic-messages")
    memo = Memo(APIS[model.api].form, model)
    spoken = [UserMessage(content=[PICTURE]) for _ in range(25)]
    for size in range(18, 26):
        check(memo, model, spoken[:size])


@pytest.mark.parametrize("api", APIS)
def test_two_threads_never_mix_their_requests(api: str) -> None:
    """A request that was given up may still be encoded while the next one is."""
    model = info(api)
    memo = Memo(APIS[api].form, model)
    spoken = [UserMessage(content=str(n)) for n in range(20)]

    def encoded(number: int) -> None:
        tools = (replace(READ, name=f"read_{number}"),)
        for length in range(1, 20):
            request = ModelRequest("s", tuple(spoken[:length]), tools, session_id="s")
            whole = encode(APIS[api].form, model, request)
            assert json.loads(memo.encode(request)) == json.loads(json.dumps(whole))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(encoded, range(60)))
    finally:
        sys.setswitchinterval(usual)
