"""Requests of the APIs where the vectors do not look: thinking, limits, dialects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.talk import READ, asked

from singletree.messages import (
    LEVELS,
    AssistantMessage,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.catalogue import PROVIDERS
from singletree.model.openai import NO_OUTPUT
from singletree.model.room import output_limit, request_tokens
from singletree.model.thinking import clamp, levels_of

CHAT, MESSAGES, RESPONSES = "openai-completions", "anthropic-messages", "openai-responses"


def body(api: str, request: ModelRequest | None = None, **fields: Any) -> Any:
    reasoning = fields.get("reasoning", False)
    names = fields.get("compat", {}).get("thinkingLevelMap", {})
    info = ModelInfo(
        **{"provider": "p", "id": "m", "api": api, "levels": levels_of(reasoning, names), **fields}
    )
    return APIS[api].encode(info, request or asked("hi"))


@given(st.sampled_from(LEVELS), st.lists(st.sampled_from(LEVELS), min_size=1, unique=True))
def test_a_clamped_level_is_one_the_model_has(
    wish: ThinkingLevel, levels: list[ThinkingLevel]
) -> None:
    got = clamp(wish, levels)
    assert got in levels
    if wish in levels:
        assert got == wish


@pytest.mark.parametrize(
    ("window", "maximum", "asked_for", "tokens", "limit"),
    [
        (200_000, 32_000, None, 1000, 32_000),
        (200_000, 32_000, 500, 1000, 500),
        (200_000, 32_000, 99_000, 1000, 32_000),
        (8_000, 16_384, None, 4000, 8_000 - 4600 - 256),
        (8_000, 16_384, None, 9000, 256),
        (0, 16_384, None, 9000, 16_384),
    ],
)
def test_the_answer_must_fit_behind_the_request(
    window: int, maximum: int, asked_for: int | None, tokens: int, limit: int
) -> None:
    info = ModelInfo("p", "m", context_window=window, max_output=maximum)
    assert output_limit(info, asked("x", max_tokens=asked_for), tokens) == limit


def test_a_request_is_weighed() -> None:
    request = asked("x" * 400, system="y" * 40)
    assert request_tokens(request) == 110
    assert request_tokens(asked("x" * 400, tools=(READ,))) > 100


def test_a_model_that_always_thinks_thinks_as_little_as_it_can() -> None:
    names = {"off": None, "minimal": None}
    compat = {"forceAdaptiveThinking": True, "thinkingLevelMap": names}
    sent = body(MESSAGES, reasoning=True, compat=compat)
    assert sent["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert sent["output_config"] == {"effort": "low"}


def test_thinking_by_a_number_of_tokens_is_never_asked_for_unless_wished() -> None:
    compat = {"thinkingLevelMap": {"off": None}, "samplingParams": {"temperature": 0.3}}
    sent = body(MESSAGES, reasoning=True, compat=compat)
    assert "thinking" not in sent
    assert sent["temperature"] == 0.3


def test_blank_parts_of_a_conversation() -> None:
    call = ToolCall(id="call_1", name="read", arguments={})
    thought = Thinking(thinking=" ", thinking_signature="reasoning_content")
    said = AssistantMessage(
        content=[thought, call], api=CHAT, provider="p", model="m", stop_reason="toolUse"
    )
    blank = ToolResultMessage(tool_call_id="call_1", tool_name="read", content=[Text(text=" \n")])
    talk = ModelRequest("", (UserMessage(content="hi"), said, blank))
    for name in ("requiresAssistantAfterToolResult", "requiresNonNullAssistantContent"):
        answer, result = body(CHAT, talk, compat={name: True})["messages"][1:3]
        assert (answer["content"], result["content"]) == ("", NO_OUTPUT)
        assert "reasoning_content" not in answer
    assert body(RESPONSES, talk)["input"][-1]["output"] == NO_OUTPUT


def test_thinking_that_no_longer_fits_is_dropped_not_refused() -> None:
    compat = {"supportsMidConvoEffort": True}
    sent = body(MESSAGES, asked("hi", thinking="high"), reasoning=True, compat=compat)
    assert sent["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}


@pytest.mark.parametrize(
    ("level", "word"),
    [("minimal", "low"), ("low", "low"), ("high", "high"), ("xhigh", "xhigh"), ("max", "max")],
)
def test_words_of_adaptive_thinking(level: ThinkingLevel, word: str) -> None:
    names = {"xhigh": "xhigh", "max": "max"}
    compat = {"forceAdaptiveThinking": True, "thinkingLevelMap": names}
    sent = body(MESSAGES, asked("hi", thinking=level), reasoning=True, compat=compat)
    assert sent["output_config"] == {"effort": word}


def test_too_little_room_to_think_is_no_thinking() -> None:
    sent = body(MESSAGES, asked("hi", thinking="high"), reasoning=True, max_output=1500)
    assert sent["thinking"] == {"type": "disabled"}
    assert sent["max_tokens"] == 1500


def test_heat_goes_with_no_thinking_only() -> None:
    compat: dict[str, Any] = {"samplingParams": {"temperature": 0.3, "top_p": 0.9}}
    assert body(MESSAGES, reasoning=True, compat=compat)["temperature"] == 0.3
    thinking = body(MESSAGES, asked("hi", thinking="low"), reasoning=True, compat=compat)
    assert "temperature" not in thinking
    assert thinking["top_p"] == 0.9
    compat["supportsTemperature"] = False
    assert "top_p" not in body(MESSAGES, reasoning=True, compat=compat)


def test_eager_tools_are_for_anthropic_itself() -> None:
    request = asked("hi", tools=(READ,))
    own = body(MESSAGES, request, provider="anthropic")["tools"][0]
    other = body(MESSAGES, request, provider="gateway")["tools"][0]
    assert own["eager_input_streaming"] is True
    assert "eager_input_streaming" not in other
    headers = APIS[MESSAGES].headers(ModelInfo("gateway", "m", api=MESSAGES), request, "k")
    assert "anthropic-beta" not in headers


def test_a_schema_has_the_least_that_is_asked_for() -> None:
    bare = ToolSpec("x", "d", {"$defs": {}})
    (tool,) = body(MESSAGES, asked("hi", tools=(bare,)))["tools"]
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {},
        "required": [],
        "$defs": {},
    }


def test_unsigned_thinking_does_not_go_back_as_text() -> None:
    said = AssistantMessage(
        content=[Thinking(thinking="deep", thinking_signature=""), Text(text="a")],
        api=MESSAGES,
        provider="p",
        model="m",
    )
    sent = body(MESSAGES, asked("hi", said, "go"))["messages"][1]["content"]
    assert sent == [{"type": "text", "text": "a"}]


@pytest.mark.parametrize(
    ("provider", "field"),
    [("ollama", "max_tokens"), ("deepseek", "max_tokens"), ("cerebras", "max_completion_tokens")],
)
def test_dialects_by_provider(provider: str, field: str) -> None:
    sent = body(CHAT, provider=provider)
    assert field in sent
    assert "store" not in sent


def test_a_server_on_this_machine_is_taken_for_a_local_one() -> None:
    sent = body(CHAT, provider="mine", base_url="http://localhost:8000/v1")
    assert "max_tokens" in sent
    assert "store" not in sent


def test_what_models_json_says_wins() -> None:
    sent = body(CHAT, provider="ollama", compat={"maxTokensField": "max_completion_tokens"})
    assert "max_completion_tokens" in sent


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("off", {"enable_thinking": False, "fixed": 7}),
        ("high", {"enable_thinking": True, "effort": "much", "tokens": 1976, "fixed": 7}),
    ],
)
def test_variables_of_a_chat_template(level: ThinkingLevel, expected: dict[str, Any]) -> None:
    compat = {
        "thinkingFormat": "chat-template",
        "thinkingLevelMap": {"high": "much"},
        "chatTemplateKwargs": {
            "enable_thinking": {"$var": "thinking.enabled"},
            "effort": {"$var": "thinking.effort", "omitWhenOff": True},
            "tokens": {"$var": "thinking.budget"},
            "fixed": 7,
            "unheard": {"$var": "of"},
        },
    }
    request = asked("hi", thinking=level, max_tokens=3000)
    sent = body(CHAT, request, reasoning=True, compat=compat)
    assert sent["chat_template_kwargs"] == expected
    assert "reasoning_effort" not in sent


def test_a_number_of_tokens_to_think_with() -> None:
    request, compat = asked("hi", thinking="low"), {"supportsThinkingTokenBudget": True}
    assert body(CHAT, request, reasoning=True, compat=compat)["thinking_token_budget"] == 2048
    named = {"thinkingTokenBudgetField": "budget"}
    assert body(CHAT, request, reasoning=True, compat=named)["budget"] == 2048
    assert "budget" not in body(CHAT, reasoning=True, compat=named)
    assert "budget" not in body(CHAT, request, reasoning=True, compat=named, max_output=1000)


def test_what_is_said_to_a_router_and_to_a_queue() -> None:
    compat = {"openRouterRouting": {"order": ["a", "b"]}, "vllmPriority": 3}
    sent = body(CHAT, compat=compat)
    assert sent["provider"] == {"order": ["a", "b"]}
    assert sent["priority"] == 3
    assert not {"provider", "priority"} & set(body(CHAT))


def test_extra_fields_of_models_json() -> None:
    extra = {"keep_alive": "10m"}
    for api in APIS:
        assert body(api, compat={"extraBody": extra})["keep_alive"] == "10m"


def test_long_cache_retention() -> None:
    compat = {"cacheRetention": "long"}
    mark = body(MESSAGES, compat=compat)["messages"][0]["content"][0]["cache_control"]
    assert mark == {"type": "ephemeral", "ttl": "1h"}
    assert body(RESPONSES, compat=compat)["prompt_cache_retention"] == "24h"


def test_a_summary_is_not_cached() -> None:
    request = ModelRequest("s", (UserMessage(content="x"),), cache=False, session_id="s")
    sent = body(MESSAGES, request)
    assert "cache_control" not in str(sent)
    assert "prompt_cache_key" not in body(RESPONSES, request)
    headers = APIS[RESPONSES].headers(ModelInfo("p", "m", api=RESPONSES), request, "k")
    assert "session-id" not in headers


def test_every_built_in_model_makes_a_body_at_every_level() -> None:
    for provider in PROVIDERS.values():
        for info in provider.models:
            api = info.api or provider.api
            for level in LEVELS:
                request = asked("hi", thinking=level, tools=(READ,))
                sent = body(
                    api,
                    request,
                    provider=provider.id,
                    levels=info.levels,
                    reasoning=info.reasoning,
                    compat=info.compat,
                )
                if "off" not in info.levels:
                    assert sent.get("thinking") != {"type": "disabled"}, info.id
                    assert sent.get("reasoning") != {"effort": "none"}, info.id


@pytest.mark.parametrize("api", APIS)
def test_a_model_whose_levels_are_all_taken_away_does_not_think(api: str) -> None:
    compat = {"thinkingLevelMap": dict.fromkeys(map(str, LEVELS))}
    assert levels_of(True, compat["thinkingLevelMap"]) == ("off",)
    assert body(api, asked("x", thinking="high"), reasoning=True, compat=compat)
