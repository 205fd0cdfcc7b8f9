"""Answers of the generative language API: in any pieces, cut anywhere, ended in any way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from tests.model.fake_server import events
from tests.model.gemini import API, USAGE, call, chunk, generated

from singletree.errors import ModelError
from singletree.messages import AssistantMessage
from singletree.model.apis import APIS
from singletree.model.base import (
    Delta,
    ModelInfo,
    Price,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from singletree.model.draft import Draft
from singletree.model.google_stream import REFUSED
from singletree.model.openai_stream import FILTERED
from singletree.model.sse import SSEDecoder

PRICE = Price(1, 10, 0.1)


def play(pieces: Iterable[bytes]) -> tuple[list[Delta], AssistantMessage | ModelError]:
    """What is told, and how it ends."""
    decoder = APIS[API].decoder(Draft(ModelInfo("fake", "m", api=API, price=PRICE)))
    sse, heard = SSEDecoder(), list[Delta]()
    try:
        for piece in pieces:
            for event in sse.feed(piece):
                heard += decoder.feed(event)
        for event in sse.close():
            heard += decoder.feed(event)
        rest, message = decoder.finish()
    except ModelError as error:
        return heard, error
    return heard + rest, message


def whole(*pieces: bytes) -> AssistantMessage:
    message = play(pieces)[1]
    assert isinstance(message, AssistantMessage), message
    return message


def refused(*pieces: bytes) -> ModelError:
    error = play(pieces)[1]
    assert isinstance(error, ModelError)
    return error


def shape(message: AssistantMessage) -> list[dict[str, Any]]:
    return [block.dump() for block in message.content]


THOUGHT = {"text": "Hm, ", "thought": True}
RICH = generated(
    THOUGHT,
    {"text": "é🙂", "thought": True},
    {"text": "Let me "},
    {"text": "look.", "thoughtSignature": "S1"},
    {**call(id="g1", path="ä.txt"), "thoughtSignature": "S2"},
    call(id="g2", path="b"),
)
TOLD = [
    ThinkingDelta(0, "Hm, "),
    ThinkingDelta(0, "é🙂"),
    TextDelta(1, "Let me "),
    TextDelta(1, "look."),
    ToolCallDelta(2, "g1", "read", '{"path": "ä.txt"}'),
    ToolCallDelta(3, "g2", "read", '{"path": "b"}'),
]
KEPT: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Hm, é🙂"},
    {"type": "text", "text": "Let me look.", "textSignature": "S1"},
    {
        "type": "toolCall",
        "id": "g1",
        "name": "read",
        "arguments": {"path": "ä.txt"},
        "thoughtSignature": "S2",
    },
    {"type": "toolCall", "id": "g2", "name": "read", "arguments": {"path": "b"}},
]


@pytest.mark.parametrize("size", [len(RICH), 1, 7])
def test_however_it_is_delivered(size: int) -> None:
    heard, message = play(RICH[i : i + size] for i in range(0, len(RICH), size))
    assert heard == TOLD
    assert isinstance(message, AssistantMessage)
    assert shape(message) == KEPT
    assert (message.stop_reason, message.raw_stop_reason) == ("toolUse", "STOP")
    assert (message.response_id, message.response_model) == ("r1", None)


def test_cut_at_any_place_it_is_no_answer() -> None:
    end = len(RICH.rstrip())
    for at in range(end):
        heard, error = play([RICH[:at]])
        assert isinstance(error, ModelError), at
        assert error.retryable
        assert heard == TOLD[: len(heard)]
    assert shape(whole(RICH[:end])) == KEPT


def test_cut_into_two_at_any_place_it_is_the_same_answer() -> None:
    for at in range(1, len(RICH)):
        heard, message = play([RICH[:at], RICH[at:]])
        assert isinstance(message, AssistantMessage), at
        assert (heard, shape(message)) == (TOLD, KEPT)


@pytest.mark.parametrize(
    ("finish", "stop", "words"),
    [
        ("STOP", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("SAFETY", "error", FILTERED),
        ("RECITATION", "error", FILTERED),
        ("PROHIBITED_CONTENT", "error", FILTERED),
        ("SPII", "error", FILTERED),
    ],
)
def test_how_an_answer_ends(finish: str, stop: str, words: str | None) -> None:
    message = whole(generated({"text": "a"}, finish=finish))
    assert (message.stop_reason, message.error_message) == (stop, words)
    assert message.raw_stop_reason == finish


@pytest.mark.parametrize("finish", ["MALFORMED_FUNCTION_CALL", "OTHER", "BRAND_NEW"])
def test_an_end_that_is_none_may_be_tried_again(finish: str) -> None:
    error = refused(generated({"text": "half"}, finish=finish))
    assert error.retryable
    assert error.message == f"fake: the answer ended with {finish}"


def test_why_it_ended_is_told() -> None:
    last = chunk(finish="MALFORMED_FUNCTION_CALL")
    last["candidates"][0]["finishMessage"] = "Malformed function call:\n print(read("
    error = refused(events(last))
    assert error.message.endswith("MALFORMED_FUNCTION_CALL: Malformed function call: print(read(")


def test_an_unsaid_reason_is_no_end() -> None:
    unsaid = events(chunk({"text": "a"}, finish="FINISH_REASON_UNSPECIFIED"))
    assert refused(unsaid).message == "fake: the answer ended without a stop reason"
    assert shape(whole(unsaid, generated({"text": "b"})))[0]["text"] == "ab"


def test_a_request_that_is_refused() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE}
    message = whole(events(blocked))
    assert (message.stop_reason, message.error_message) == ("error", REFUSED)
    assert message.raw_stop_reason == "PROHIBITED_CONTENT"
    assert message.usage.input == 9


def test_an_error_in_the_stream() -> None:
    error = {"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}
    heard, failure = play([events(chunk({"text": "par"}), error)])
    assert heard == [TextDelta(0, "par")]
    assert isinstance(failure, ModelError)
    assert (failure.code, failure.retryable, failure.status) == ("overloaded", True, 503)


def test_calls_without_an_id_get_one_each() -> None:
    calls = whole(generated(call(path="a"), call(path="a"))).tool_calls
    assert len({made.id for made in calls}) == 2
    assert all(made.id for made in calls)
    assert {made.name for made in calls} == {"read"}


def test_odd_calls() -> None:
    nothing: dict[str, Any] = {"functionCall": {}}
    odd: dict[str, Any] = {"functionCall": {"name": "ls", "args": None, "id": 3}}
    calls = whole(generated(nothing, odd)).tool_calls
    assert [(made.name, made.arguments) for made in calls] == [("unnamed_tool", {}), ("ls", {})]


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (
            [THOUGHT, {"text": "", "thoughtSignature": "S"}],
            [
                {"type": "thinking", "thinking": "Hm, "},
                {"type": "text", "text": "", "textSignature": "S"},
            ],
        ),
        (
            [{"text": "a"}, {"text": "", "thoughtSignature": "S"}],
            [{"type": "text", "text": "a", "textSignature": "S"}],
        ),
        (
            [{"text": "a", "thoughtSignature": "S"}, {"text": "b"}],
            [{"type": "text", "text": "ab", "textSignature": "S"}],
        ),
        (
            [{"text": "t", "thought": True, "thoughtSignature": "S"}],
            [{"type": "thinking", "thinking": "t", "thinkingSignature": "S"}],
        ),
        (
            [{"text": "a"}, {"executableCode": {"code": "1"}}, {"text": "b"}],
            [{"type": "text", "text": "ab"}],
        ),
    ],
)
def test_signatures_stay_where_they_came(parts: list[Any], kept: list[Any]) -> None:
    assert shape(whole(generated(*parts))) == kept


def test_what_it_costs() -> None:
    usage = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 400,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 70,
        "toolUsePromptTokenCount": 5,
    }
    first = chunk({"text": "a"}, usageMetadata={"promptTokenCount": 1000})
    used = whole(events(first, chunk(finish="STOP", usageMetadata=usage))).usage
    assert (used.input, used.output, used.cache_read, used.reasoning) == (605, 100, 400, 70)
    assert used.cost.total == pytest.approx((605 * 1 + 100 * 10 + 400 * 0.1) / 1e6)


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": None, "usageMetadata": 3, "promptFeedback": []},
        {"candidates": [None], "responseId": 7},
        {"candidates": [{"content": {"parts": [None, {"text": 3}]}}], "modelVersion": None},
        {"candidates": [{"finishReason": None}], "usageMetadata": {"promptTokenCount": "many"}},
    ],
)
def test_odd_types_are_passed_over(odd: Any) -> None:
    message = whole(events(odd), generated({"text": "a"}))
    assert [block["text"] for block in shape(message)] == ["a"]


def test_another_model_that_answered_is_named() -> None:
    named = chunk({"text": "a"}, finish="STOP", modelVersion="m-002")
    assert whole(events(named)).response_model == "m-002"
