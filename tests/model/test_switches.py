"""Each switch of `compat` and what it changes in a request: its body, its headers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.model.fake_server import chat, serving
from tests.model.talk import READ, answer, asked, model_at

from singletree.errors import SettingsError
from singletree.messages import AssistantMessage, Text, ThinkingLevel, ToolCall, ToolResultMessage
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.catalogue import PROVIDERS
from singletree.model.models_file import merge
from singletree.model.switches import Switches
from singletree.model.thinking import levels_of

CHAT, MESSAGES, RESPONSES = "openai-completions", "anthropic-messages", "openai-responses"
ABSENT = "absent"
LONG = {"cacheRetention": "long"}
SHORT = {"supportsLongCacheRetention": False}
DOCS = Path(__file__).parents[2] / "docs" / "models.md"


def model(api: str, compat: dict[str, Any] | None = None, **fields: Any) -> ModelInfo:
    """A model that thinks."""
    names = (compat or {}).get("thinkingLevelMap", {})
    return ModelInfo(
        **{
            "provider": "p",
            "id": "m",
            "api": api,
            "reasoning": True,
            "levels": levels_of(True, names),
            "compat": compat or {},
            **fields,
        }
    )


def body(info: ModelInfo, request: ModelRequest | None = None) -> Any:
    """What is sent."""
    return APIS[info.api].encode(info, request or asked("hi", session_id="s1"))


def headers(info: ModelInfo, request: ModelRequest | None = None) -> dict[str, str]:
    """What goes with it, the key and the version left out."""
    sent = APIS[info.api].headers(info, request or asked("hi", session_id="s1"), "k")
    usual = ("authorization", "x-api-key", "x-goog-api-key", "anthropic-version")
    return {name: value for name, value in sent.items() if name not in usual}


async def test_a_header_of_models_json_wins_in_whatever_case() -> None:
    own = {"X-Session-Id": "mine", "X-Client-Request-Id": "too"}
    compat = {"sendSessionAffinityHeaders": True, "zaiToolStream": True}
    async with (
        serving([chat({"content": "a"})]) as server,
        model_at(server, compat=compat, headers=own) as one,
    ):
        await answer(one, "hi", session_id="s1", tools=(READ,))
    sent = server.seen[0].headers
    assert {name: sent.get(name) for name in ("session_id", "x-client-request-id")} == {
        "session_id": "s1",
        "x-client-request-id": "too",
    }
    assert (sent["x-session-id"], server.bodies[0]["tool_stream"]) == ("mine", True)


TEMPLATE = {
    "on": {"$var": "thinking.enabled"},
    "effort": {"$var": "thinking.effort"},
    "tokens": {"$var": "thinking.budget"},
    "left": {"$var": "thinking.enabled", "omitWhenOff": True},
    "fixed": 7,
}
NAMED = {"high": "much", "off": "never"}


@pytest.mark.parametrize(
    ("form", "names", "level", "said"),
    [
        ("string-thinking", {}, "high", {"thinking": "high"}),
        ("string-thinking", NAMED, "high", {"thinking": "much"}),
        ("string-thinking", {}, "off", {"thinking": "none"}),
        ("string-thinking", NAMED, "off", {"thinking": "never"}),
        ("string-thinking", {"off": None}, "off", {}),
        ("ant-ling", {}, "high", {}),
        ("ant-ling", NAMED, "high", {"reasoning": {"effort": "much"}}),
        ("ant-ling", {"high": "much"}, "off", {}),
        (
            "baseten",
            {"high": "much"},
            "high",
            {
                "chat_template_args": {
                    "on": True,
                    "effort": "much",
                    "tokens": 16384,
                    "left": True,
                    "fixed": 7,
                },
                "reasoning_effort": "much",
            },
        ),
        ("baseten", {}, "off", {"chat_template_args": {"on": False, "fixed": 7}}),
        ("zai", {}, "low", {"thinking": {"type": "enabled", "clear_thinking": False}}),
        ("together", {}, "off", {"reasoning": {"enabled": False}}),
        ("openrouter", {}, "off", {"reasoning": {"effort": "none"}}),
        ("qwen", {}, "off", {"enable_thinking": False}),
    ],
)
def test_formats_of_thinking(
    form: str, names: dict[str, str | None], level: ThinkingLevel, said: dict[str, Any]
) -> None:
    compat = {"thinkingFormat": form, "thinkingLevelMap": names, "chatTemplateArgs": TEMPLATE}
    request = asked("hi", thinking=level)
    sent = body(model(CHAT, compat, max_output=32_000), request)
    plain = body(model(CHAT, compat, max_output=32_000, reasoning=False), request)
    added = {name: value for name, value in sent.items() if name not in plain}
    if form == "zai":
        assert added.pop("reasoning_effort") == level
    assert added == said


@pytest.mark.parametrize(
    ("api", "compat", "field", "value"),
    [
        (CHAT, {"vercelGatewayRouting": {"only": ["a"]}}, "providerOptions", {"only": ["a"]}),
        (
            CHAT,
            {"vercelGatewayRouting": {"only": ["a"], "order": ["b", "c"], "else": 1}},
            "providerOptions",
            {"only": ["a"], "order": ["b", "c"]},
        ),
        (CHAT, {"vercelGatewayRouting": {}}, "providerOptions", ABSENT),
        (CHAT, {"vercelGatewayRouting": {"only": []}}, "providerOptions", ABSENT),
        (CHAT, {"openRouterRouting": {"zdr": True}}, "provider", {"zdr": True}),
        (CHAT, {"vllmPriority": 0}, "priority", 0),
        (CHAT, {}, "tool_stream", ABSENT),
        (CHAT, {"zaiToolStream": True}, "tool_stream", True),
        (CHAT, {"supportsStore": False}, "store", ABSENT),
        (CHAT, LONG, "prompt_cache_retention", "24h"),
        (CHAT, LONG, "prompt_cache_key", "s1"),
        (CHAT, {**LONG, **SHORT}, "prompt_cache_retention", ABSENT),
        (CHAT, {**LONG, **SHORT}, "prompt_cache_key", ABSENT),
        (CHAT, {}, "prompt_cache_key", ABSENT),
        (CHAT, {"promptCacheKeyMode": "enabled"}, "prompt_cache_key", "s1"),
        (CHAT, {**LONG, "promptCacheKeyMode": "disabled"}, "prompt_cache_key", ABSENT),
        (RESPONSES, {}, "prompt_cache_key", "s1"),
        (RESPONSES, {"promptCacheKeyMode": "disabled"}, "prompt_cache_key", ABSENT),
        (RESPONSES, LONG, "prompt_cache_retention", "24h"),
        (
            RESPONSES,
            {**LONG, "supportsLongCacheRetention": False},
            "prompt_cache_retention",
            ABSENT,
        ),
        (
            RESPONSES,
            {**LONG, "supportsExplicitPromptCacheMode": True},
            "prompt_cache_options",
            {"ttl": "30m"},
        ),
        (
            RESPONSES,
            {**LONG, "supportsExplicitPromptCacheMode": True},
            "prompt_cache_retention",
            ABSENT,
        ),
        (RESPONSES, {"supportsMaxOutputTokens": False}, "max_output_tokens", ABSENT),
        (
            MESSAGES,
            {
                "allowedFallbackModels": [
                    {"provider": "p", "model": "other", "cost": {}},
                    {"provider": "elsewhere", "model": "third", "cost": {}},
                ]
            },
            "fallbacks",
            [{"model": "other"}, {"model": "third"}],
        ),
        (MESSAGES, {"allowedFallbackModels": []}, "fallbacks", ABSENT),
    ],
)
def test_fields_of_the_body(api: str, compat: dict[str, Any], field: str, value: Any) -> None:
    sent = body(model(api, compat), asked("hi", tools=(READ,), session_id="s1"))
    got = sent.get(field, ABSENT)
    assert (got["gateway"] if field == "providerOptions" and got != ABSENT else got) == value


def test_a_request_that_is_not_to_be_cached() -> None:
    once = asked("hi", session_id="s1", cache=False)
    compat = {**LONG, "promptCacheKeyMode": "enabled", "supportsExplicitPromptCacheMode": True}
    assert not {"prompt_cache_key", "prompt_cache_retention"} & set(body(model(CHAT, compat), once))
    sent = body(model(RESPONSES, compat), once)
    assert sent["prompt_cache_options"] == {"mode": "explicit"}
    assert not {"prompt_cache_key", "prompt_cache_retention"} & set(sent)
    always = {"sendSessionAffinityHeaders": True}
    assert [headers(model(api, always), once) for api in (CHAT, RESPONSES)] == [{}, {}]


@pytest.mark.parametrize(
    ("api", "compat", "names"),
    [
        (CHAT, {}, []),
        (CHAT, {"sessionAffinityFormat": "openrouter"}, []),
        (
            CHAT,
            {"sendSessionAffinityHeaders": True},
            ["session_id", "x-client-request-id", "x-session-affinity"],
        ),
        (
            CHAT,
            {"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openai-nosession"},
            ["x-client-request-id", "x-session-affinity"],
        ),
        (
            CHAT,
            {"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openrouter"},
            ["x-session-id"],
        ),
        (RESPONSES, {}, ["session-id", "x-client-request-id"]),
        (RESPONSES, {"sessionAffinityFormat": "openai-nosession"}, ["x-client-request-id"]),
        (RESPONSES, {"sessionAffinityFormat": "openrouter"}, ["x-session-id"]),
        (MESSAGES, {}, []),
        (MESSAGES, {"sendSessionAffinityHeaders": True}, ["x-session-affinity"]),
        (
            MESSAGES,
            {"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openrouter"},
            ["x-session-id"],
        ),
        ("google-generative-ai", {"sendSessionAffinityHeaders": True}, []),
    ],
)
def test_headers_that_name_the_session(api: str, compat: dict[str, Any], names: list[str]) -> None:
    assert headers(model(api, compat)) == dict.fromkeys(names, "s1")
    assert headers(model(api, compat), asked("hi")) == {}


@pytest.mark.parametrize("name", ["a\nb", "sé", "\x00", "\ud800"])
def test_a_session_whose_name_no_header_takes(name: str) -> None:
    assert headers(model(RESPONSES), asked("hi", session_id=name)) == {}


OPENROUTER = "https://openrouter.ai/api/v1"


@pytest.mark.parametrize(
    ("provider", "address", "added", "missing"),
    [
        ("openai", "https://api.openai.com/v1", {"prompt_cache_key": "s1", "store": False}, []),
        ("mine", "https://api.openai.com/v1", {"prompt_cache_key": "s1"}, []),
        ("openrouter", OPENROUTER, {"reasoning": {"effort": "high"}}, ["reasoning_effort"]),
        ("mine", OPENROUTER, {"reasoning": {"effort": "high"}}, ["reasoning_effort"]),
        ("mine", "https://API.DeepSeek.com", {"thinking": {"type": "enabled"}}, ["store"]),
        ("zai", "", {"max_tokens": 16384}, ["store", "reasoning_effort"]),
        ("zai-coding-cn", "", {"max_tokens": 16384}, ["store", "reasoning_effort"]),
        ("mine", "https://open.bigmodel.cn/api", {"max_tokens": 16384}, ["reasoning_effort"]),
        ("together", "", {"reasoning": {"enabled": True}}, ["prompt_cache_retention"]),
        ("mine", "https://api.together.xyz/v1", {"reasoning": {"enabled": True}}, ["store"]),
        ("moonshotai-cn", "", {"max_tokens": 16384}, ["store", "reasoning_effort"]),
        ("mine", "https://api.moonshot.ai/v1", {"max_tokens": 16384}, ["reasoning_effort"]),
        ("ant-ling", "", {"max_tokens": 16384}, ["reasoning", "prompt_cache_retention"]),
        ("mine", "https://integrate.api.nvidia.com/v1", {}, ["store", "prompt_cache_retention"]),
        ("mine", "https://gateway.ai.cloudflare.com/v1", {}, ["store", "prompt_cache_retention"]),
        ("mine", "https://api.cloudflare.com/x", {"max_completion_tokens": 16384}, ["store"]),
        ("mine", "https://llm.chutes.ai/v1", {"max_tokens": 16384}, ["store"]),
        ("mine", "https://opencode.ai/zen/v1", {"max_completion_tokens": 16384}, ["store"]),
        ("mine", "https://inference.cerebras.ai/v1", {"reasoning_effort": "high"}, ["store"]),
        ("xai", "", {"max_completion_tokens": 16384}, ["store", "reasoning_effort"]),
        ("mine", "https://not-openrouter.ai.example.org", {"store": False}, ["reasoning"]),
        ("mine", "not an address", {"store": False}, []),
    ],
)
def test_what_is_known_of_providers(
    provider: str, address: str, added: dict[str, Any], missing: list[str]
) -> None:
    info = model(CHAT, {**LONG}, provider=provider, base_url=address)
    sent = body(info, asked("hi", thinking="high", session_id="s1"))
    assert {name: sent.get(name, ABSENT) for name in added} == added
    assert not set(missing) & set(sent)


@pytest.mark.parametrize("api", [CHAT, RESPONSES, MESSAGES])
def test_the_router_is_told_the_session(api: str) -> None:
    for provider in ("openrouter", "mine"):
        assert headers(model(api, provider=provider, base_url=OPENROUTER)) == {"x-session-id": "s1"}
    off = {"sendSessionAffinityHeaders": False}
    assert headers(model(CHAT, off, provider="openrouter")) == {}


def test_claude_behind_the_router_is_cached_by_marks() -> None:
    call = AssistantMessage(content=[ToolCall(id="c", name="read")], stop_reason="toolUse")
    result = ToolResultMessage(tool_call_id="c", tool_name="read", content="x")
    request = asked("hi", call, result, system="You.", tools=(READ,))
    info = model(CHAT, provider="openrouter", id="anthropic/claude-x")
    first, *_, last = body(info, request)["messages"]
    mark = {"type": "ephemeral"}
    assert first["content"][0]["cache_control"] == last["content"][0]["cache_control"] == mark
    assert last["role"] == "tool"
    assert body(info, request)["tools"][0]["cache_control"] == mark
    kept = {**info.compat, **LONG}
    long = body(model(CHAT, kept, provider="openrouter", id="anthropic/claude-x"), request)
    assert long["tools"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in str(body(model(CHAT, provider="openrouter"), request))


@pytest.mark.parametrize("role", ["developer", "system"])
@pytest.mark.parametrize("api", [CHAT, RESPONSES])
def test_who_speaks_the_system_prompt(api: str, role: str) -> None:
    compat = {"supportsDeveloperRole": role == "developer"}
    sent = body(model(api, compat), asked("hi", system="You."))
    assert sent["messages" if api == CHAT else "input"][0]["role"] == role


def test_a_server_that_takes_no_marks_on_tools() -> None:
    request = asked("hi", tools=(READ,), system="You.")
    sent = body(model(MESSAGES, {"supportsCacheControlOnTools": False}), request)
    assert "cache_control" not in sent["tools"][0]
    assert "cache_control" in sent["system"][0]


def test_models_that_may_answer_instead_are_allowed_by_a_header() -> None:
    other = {"provider": "p", "model": "other", "cost": {"input": 3}}
    sent = headers(model(MESSAGES, {"allowedFallbackModels": [other]}))
    assert sent == {"anthropic-beta": "server-side-fallback-2026-07-01"}


def answered(api: str, level: str | None, by: str = "m") -> AssistantMessage:
    return AssistantMessage(
        content=[Text(text="a")], api=api, provider="p", model=by, thinking_level=level
    )


@pytest.mark.parametrize(
    ("level", "before", "told"),
    [
        ("high", "low", ["low", "high"]),
        ("minimal", "high", ["high", "low"]),
        ("high", "off", ["high"]),
        ("high", None, ["high"]),
        ("high", "unheard of", ["high"]),
        ("off", "high", []),
    ],
)
def test_levels_that_are_told_between_messages(
    level: ThinkingLevel, before: str | None, told: list[str]
) -> None:
    request = asked("hi", answered(MESSAGES, before), "go", thinking=level)
    sent = body(model(MESSAGES, {"supportsMidConvoEffort": True}), request)
    words = [m["output_config"]["effort"] for m in sent["messages"] if m["role"] == "system"]
    assert words == told
    fixed = {"effort": "low"} if told else ABSENT
    assert sent.get("output_config", ABSENT) == fixed
    betas = headers(model(MESSAGES, {"supportsMidConvoEffort": True}), request)["anthropic-beta"]
    assert betas == "mid-conversation-output-config-2026-07-01,thinking-binding-controls-2026-08-01"


def test_a_level_stands_before_the_answer_it_was_asked_for() -> None:
    answers = [answered(RESPONSES, "low"), answered(RESPONSES, "low", by="another")]
    request = asked("hi", answers[0], "go", answers[1], "on", thinking="high")
    sent = body(model(RESPONSES, {"supportsMidConvoEffort": True}), request)
    kinds = [item.get("type", item.get("role")) for item in sent["input"]]
    update = "configuration_update"
    assert kinds == ["user", update, "message", "user", "message", "user", update]
    assert [item["reasoning"] for item in sent["input"] if item.get("type") == update] == [
        {"effort": "low"},
        {"effort": "high"},
    ]
    assert sent["reasoning"] == {"effort": "medium", "summary": "auto"}
    off = body(model(RESPONSES, {"supportsMidConvoEffort": True}), asked("hi", answers[0], "go"))
    assert update not in str(off)
    assert off["reasoning"] == {"effort": "none"}


def test_drawing_words_at_a_level() -> None:
    compat = {
        "samplingParams": {"temperature": 0.5, "top_p": 0.9},
        "samplingParamsByThinkingLevel": {"off": {"temperature": 0.1}, "high": {"seed": 3}},
    }
    quiet = body(model(CHAT, compat))
    assert (quiet["temperature"], quiet["top_p"]) == (0.1, 0.9)
    loud = body(model(CHAT, compat), asked("hi", thinking="high"))
    assert (loud["temperature"], loud["seed"]) == (0.5, 3)


NAMES = sorted(field.alias or "?" for field in Switches.model_fields.values())
WRONG: tuple[Any, ...] = (True, 5, 1.5, "x", "", [], [1], {}, {"a": None}, [{}], None)


def said(name: str, value: Any) -> Any:
    """models.json with one switch, said of a provider and of its model."""
    compat = {name: value}
    given = {"id": "m", "reasoning": True, "compat": compat}
    one = {"baseUrl": "http://h/v1", "api": CHAT, "compat": compat, "models": [given]}
    return {"providers": {"corp": one}}


@pytest.mark.parametrize("name", NAMES)
def test_any_value_is_named_as_wrong_or_can_be_sent(name: str) -> None:
    for value in WRONG:
        try:
            merged = merge(PROVIDERS, said(name, value))
        except SettingsError as error:
            assert f"models.json: providers.corp.compat.{name}" in str(error), value
            assert "\n" not in str(error)
            continue
        compat = dict(merged["corp"].models[0].compat)
        for api in APIS:
            info = model(api, compat)
            for level in info.levels:
                request = asked("hi", thinking=level, tools=(READ,), session_id="s1")
                sent, plain = body(info, request), body(model(api), request)
                assert value is not None or sent == plain
                assert headers(info, request) == headers(model(api), request) or value is not None


def test_a_value_that_nobody_knows_is_named_with_those_that_are() -> None:
    with pytest.raises(SettingsError) as raised:
        merge(PROVIDERS, said("maxTokensField", "tokens"))
    assert str(raised.value) == (
        "models.json: providers.corp.compat.maxTokensField must be "
        "'max_completion_tokens' or 'max_tokens'"
    )


def test_a_switch_of_somebody_else_is_let_by() -> None:
    merged = merge(PROVIDERS, said("supportsOpenAIGrammarTools", True))
    assert body(model(CHAT, dict(merged["corp"].compat))) == body(model(CHAT))


def test_the_page_tells_of_every_switch() -> None:
    _, _, page = DOCS.read_text("utf-8").partition("## Switches")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == NAMES
