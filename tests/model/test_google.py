"""Requests to the generative language API: turns, tools, pictures, thinking, repairs."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.gemini import API, faults
from tests.model.talk import READ, asked
from tests.model.test_memo import messages

from singletree.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
)
from singletree.model import google
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.catalogue import GOOGLE
from singletree.model.openai import IMAGES_FOLLOW, NO_OUTPUT, SEE_IMAGE
from singletree.model.thinking import levels_of
from singletree.model.transform import NO_RESULT

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1").decode()
GIF = base64.b64encode(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;").decode()
PICTURE = Image(data=PNG, mime_type="image/png")


def model(**fields: Any) -> ModelInfo:
    names = fields.get("compat", {}).get("thinkingLevelMap", {})
    levels = levels_of(fields.get("reasoning", False), names)
    return ModelInfo(**{"provider": "fake", "id": "m", "api": API, "levels": levels, **fields})


def body(*said: Message | str, info: ModelInfo | None = None, **fields: Any) -> Any:
    return APIS[API].encode(info or model(), asked(*said, **fields))


def turns(*said: Message | str, **fields: Any) -> Any:
    return body(*said, info=model(**fields))["contents"]


def said(*blocks: Any, own: bool = True, stop: str = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=list(blocks),
        api=API if own else "openai-completions",
        provider="fake",
        model="m",
        stop_reason=stop,
    )


def result(call_id: str, content: Any = "r", **fields: Any) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call_id, content=content, **fields)


def read(call_id: str, signature: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name="read", arguments=arguments, thought_signature=signature)


def user(*parts: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def spoken(*parts: dict[str, Any] | str) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def called(call_id: str, signature: str | None, **arguments: Any) -> dict[str, Any]:
    part = {"functionCall": {"id": call_id, "name": "read", "args": arguments}}
    return part | ({"thoughtSignature": signature} if signature else {})


def response(call_id: str, text: str, key: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": "read", "response": {key: text}}}


def test_a_whole_request() -> None:
    sent = body("hi", system="Be brief.", tools=(READ,), max_tokens=500)
    assert sent == {
        "contents": [user("hi")],
        "generationConfig": {"maxOutputTokens": 500},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Read a file.",
                        "parametersJsonSchema": READ.schema,
                    }
                ]
            }
        ],
    }


def test_where_it_goes() -> None:
    info = model(id="a/b", base_url="https://example.org/v1beta/")
    assert APIS[API].url(info) == (
        "https://example.org/v1beta/models/a%2Fb:streamGenerateContent?alt=sse"
    )
    assert APIS[API].headers(info, asked("hi"), "k") == {"x-goog-api-key": "k"}
    assert APIS[API].headers(info, asked("hi"), None) == {}


def test_an_id_that_is_no_text_spoils_only_its_own_requests() -> None:
    info = model(id="half \ud83d/x")
    assert APIS[API].url(info).endswith("/models/half%20%3F%2Fx:streamGenerateContent?alt=sse")


@pytest.mark.parametrize(
    ("spoken_before", "sent"),
    [
        (
            [said(read("a", "SIG", path="x")), result("a")],
            [spoken(called("a", "SIG", path="x")), user(response("a", "r"))],
        ),
        (
            [said(read("a", "SIG"), read("b")), result("b"), result("a", "no", is_error=True)],
            [
                spoken(called("a", "SIG"), called("b", None)),
                user(response("b", "r"), response("a", "no", "error")),
            ],
        ),
        (
            [said(read("a", "SIG")), result("a", "")],
            [spoken(called("a", "SIG")), user(response("a", NO_OUTPUT))],
        ),
        (
            [said(Text(text="Look:"), read("a", "SIG"))],
            [spoken("Look:", called("a", "SIG")), user(response("a", NO_RESULT, "error"))],
        ),
        ([said(read("a", "SIG"), stop="error"), result("a")], []),
        ([result("z")], []),
    ],
)
def test_calls_and_their_results(spoken_before: list[Message], sent: list[Any]) -> None:
    assert turns("hi", *spoken_before, "go") == [user("hi"), *sent, user("go")]


@pytest.mark.parametrize(
    ("block", "own", "other"),
    [
        (Text(text="a", text_signature="S"), [{"text": "a", "thoughtSignature": "S"}], ["a"]),
        (Text(text="", text_signature="S"), [{"text": "", "thoughtSignature": "S"}], []),
        (Text(text=" "), [], []),
        (
            Thinking(thinking="t", thinking_signature="S"),
            [{"text": "t", "thought": True, "thoughtSignature": "S"}],
            [],
        ),
        (Thinking(thinking="t"), [], []),
    ],
)
def test_what_is_signed_goes_back_to_the_model_that_signed_it(
    block: Any, own: list[Any], other: list[Any]
) -> None:
    for mine, parts in ((True, own), (False, other)):
        between = [spoken(*parts)] if parts else []
        assert turns("hi", said(block, own=mine), "go") == [user("hi"), *between, user("go")]


def test_calls_of_another_model_go_unsigned_by_it_but_pass() -> None:
    calls = said(read("a|1", "THEIRS"), read("b", "THEIRS"), own=False)
    sent = turns("hi", calls, result("a|1"), result("b"), "go")
    assert sent[1] == spoken(called("a_1", google.UNSIGNED), called("b", None))
    assert sent[2] == user(response("a_1", "r"), response("b", "r"))


def test_models_that_think_by_a_budget_want_no_signature() -> None:
    sent = turns("hi", said(read("a")), result("a"), compat={"usesThinkingBudget": True})
    assert sent[1] == spoken(called("a", None))


def test_pictures() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    seen = ToolResultMessage(tool_call_id="a", content=[PICTURE])
    sent = turns("hi", said(read("a", "S")), seen, "go", images=True)
    assert sent[2:4] == [user(response("a", SEE_IMAGE)), user(IMAGES_FOLLOW, inline)]


def test_a_picture_that_it_does_not_take_is_told_in_words() -> None:
    moving = Image(data=GIF, mime_type="image/png")
    seen = ToolResultMessage(tool_call_id="a", content=[moving])
    sent = turns("hi", said(read("a", "S")), seen, "go", images=True)
    assert sent[3] == user(IMAGES_FOLLOW, f"[An image was left out: {google.NO_GIF}.]")


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([said(Text(text="a"))], [user(google.EARLIER), spoken("a"), user(google.GO_ON)]),
        (["hi", said(Text(text="a"))], [user("hi"), spoken("a"), user(google.GO_ON)]),
        (
            ["hi", said(Text(text="a")), said(Text(text="b"), read("c", "S"))],
            [
                user("hi"),
                spoken("a", "b", called("c", "S")),
                user(response("c", NO_RESULT, "error")),
            ],
        ),
        (["hi", said(Text(text="a")), " "], [user("hi"), spoken("a"), user(google.NO_WORDS)]),
        (["hi", said(stop="error"), "go"], [user("hi"), user("go")]),
    ],
)
def test_turns_that_do_not_alternate_are_repaired(given: list[Any], sent: list[Any]) -> None:
    assert turns(*given) == sent


@settings(max_examples=150)
@given(st.lists(messages, min_size=1, max_size=12), st.booleans())
def test_whatever_was_said_is_sent_so_that_it_is_taken(spoken: list[Message], images: bool) -> None:
    info = model(images=images, reasoning=True)
    sent: Any = APIS[API].encode(info, ModelRequest("", tuple(spoken), (READ,)))
    if sent["contents"]:
        assert list(faults(sent["contents"])) == []


LEVELS = {"off": None, "minimal": None, "xhigh": "xhigh"}


@pytest.mark.parametrize(
    ("level", "compat", "config"),
    [
        ("high", {}, {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("off", {}, {"thinkingLevel": "MINIMAL"}),
        ("off", {"thinkingLevelMap": {"off": "none"}}, {"thinkingLevel": "NONE"}),
        ("off", {"thinkingLevelMap": LEVELS}, {"thinkingLevel": "LOW"}),
        (
            "minimal",
            {"thinkingLevelMap": LEVELS},
            {"thinkingLevel": "LOW", "includeThoughts": True},
        ),
        (
            "max",
            {"thinkingLevelMap": LEVELS},
            {"thinkingLevel": "XHIGH", "includeThoughts": True},
        ),
        (
            "medium",
            {"usesThinkingBudget": True},
            {"thinkingBudget": 8192, "includeThoughts": True},
        ),
        ("off", {"usesThinkingBudget": True}, {"thinkingBudget": 0}),
        (
            "off",
            {"usesThinkingBudget": True, "thinkingLevelMap": {"off": None}},
            {"thinkingBudget": 1024},
        ),
        (
            "low",
            {"usesThinkingBudget": True, "thinkingBudgets": {"low": 333}},
            {"thinkingBudget": 333, "includeThoughts": True},
        ),
    ],
)
def test_thinking(level: ThinkingLevel, compat: dict[str, Any], config: dict[str, Any]) -> None:
    info = model(reasoning=True, compat=compat, max_output=65_536)
    sent = body("hi", info=info, thinking=level)["generationConfig"]
    assert sent == {"maxOutputTokens": 65_536, "thinkingConfig": config}


def test_thoughts_take_no_room_from_an_answer_that_is_limited() -> None:
    info = model(reasoning=True, max_output=20_000)
    for level, room in (("off", 1000), ("low", 3048), ("high", 17_384), ("xhigh", 17_384)):
        sent = body("hi", info=info, thinking=level, max_tokens=1000)["generationConfig"]
        assert sent["maxOutputTokens"] == room
    small = model(reasoning=True, max_output=1500, compat={"usesThinkingBudget": True})
    sent = body("hi", info=small, thinking="high")["generationConfig"]
    assert sent["thinkingConfig"]["thinkingBudget"] == 1500 - 1024


def test_what_models_json_adds() -> None:
    compat = {"samplingParams": {"temperature": 0.2}, "extraBody": {"safetySettings": []}}
    sent = body("hi", info=model(compat=compat))
    assert sent["generationConfig"]["temperature"] == 0.2
    assert sent["safetySettings"] == []


def test_every_model_we_know_says_how_much_it_thinks() -> None:
    for info in GOOGLE.models:
        known = model(id=info.id, reasoning=True, levels=info.levels, compat=info.compat)
        for level in info.levels:
            asked_for = body("hi", info=known, thinking=level)["generationConfig"]
            assert asked_for["thinkingConfig"]["thinkingLevel"] == level.upper()
        assert "off" not in info.levels
