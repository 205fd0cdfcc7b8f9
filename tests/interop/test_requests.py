"""The switches of models.json in two programs: what pi would send, we send."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import needs
from tests.interop.install import NEEDS, found
from tests.vectors.model_shapes import info_of, messages_of

from singletree.model.apis import APIS
from singletree.model.base import ModelRequest, ToolSpec
from singletree.model.memo import Memo

pytestmark = [pytest.mark.client, pytest.mark.timeout(120), needs(NEEDS, found() is not None)]

CHAT, RESPONSES, MESSAGES = "openai-completions", "openai-responses", "anthropic-messages"
SENDS = Path(__file__).with_name("requests.mjs")
READ = {
    "name": "read",
    "description": "Read a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": []},
}
USUAL = {
    "baseUrl": "https://example.org/v1",
    "provider": "corp",
    "id": "m",
    "name": "m",
    "reasoning": True,
    "input": ["text"],
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    "contextWindow": 200_000,
    "maxTokens": 32_000,
}
NOT_OURS = ("x-stainless-", "accept", "anthropic-dangerous", "content-", "user-agent")
KEYS = ("authorization", "x-api-key")
EAGER = {"supportsEagerToolInputStreaming": True}
"""pi's default; ours says nothing to those who are not Anthropic."""
Case = dict[str, Any]


def case(api: str, compat: Any, *, level: str | None = None, **model: Any) -> Case:
    """A conversation with a call and its result, asked on. `level`: of the answer before."""
    options = model.pop("options", {})
    tools = model.pop("tools", [READ])
    known = {**(EAGER if api == MESSAGES else {}), **compat}
    model = {**USUAL, "api": api, "compat": known, **model}
    answer = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "ok"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
        ],
        **{"api": api, "provider": model["provider"], "model": model["id"]},
        **({"thinkingLevel": level, "providerThinkingLevel": level} if level else {}),
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0},
        **{"stopReason": "toolUse", "timestamp": 2},
    }
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": False}
    spoken = [
        {"role": "system", "content": "You.", "toolsAdded": tools, "timestamp": 0},
        {"role": "user", "content": "hi", "timestamp": 1},
        answer,
        {**result, "content": [{"type": "text", "text": "x"}], "timestamp": 3},
    ]
    return {"model": model, "context": {"messages": spoken}, "options": options}


FORMATS = (
    "openai",
    "openrouter",
    "deepseek",
    "together",
    "baseten",
    "zai",
    "qwen",
    "chat-template",
    "qwen-chat-template",
    "string-thinking",
    "ant-ling",
)
TEMPLATE = {
    "on": {"$var": "thinking.enabled"},
    "effort": {"$var": "thinking.effort", "omitWhenOff": True},
    "tokens": {"$var": "thinking.budget"},
    "fixed": 1,
}
MAPS: tuple[Any, ...] = ({}, {"off": "none", "high": "much"}, {"low": "little"})


def thinking() -> Iterator[Case]:
    """Each format at some levels, with and without words of its own."""
    for form, level, names, plain in product(FORMATS, (None, "high"), MAPS, (True, False)):
        compat = {
            "thinkingFormat": form,
            "supportsReasoningEffort": plain,
            "chatTemplateKwargs": TEMPLATE,
            "chatTemplateArgs": TEMPLATE,
        }
        options = {"reasoning": level} if level else {}
        yield case(CHAT, compat, thinkingLevelMap=names, options=options)


HOSTS = """
    openai https://api.openai.com/v1
    corp https://api.openai.com/v1
    openrouter https://openrouter.ai/api/v1
    corp https://openrouter.ai/api/v1
    groq https://api.groq.com/openai/v1
    deepseek https://api.deepseek.com
    corp https://API.DeepSeek.com
    cerebras https://api.cerebras.ai/v1
    xai https://api.x.ai/v1
    zai https://api.z.ai/api/paas/v4
    zai-coding-cn https://open.bigmodel.cn/api/coding/paas/v4
    corp https://open.bigmodel.cn/api
    moonshotai https://api.moonshot.ai/v1
    corp https://api.moonshot.cn/v1
    together https://api.together.ai/v1
    corp https://api.together.xyz/v1
    ant-ling https://api.ant-ling.com/v1
    nvidia https://integrate.api.nvidia.com/v1
    cloudflare-ai-gateway https://gateway.ai.cloudflare.com/v1/a/b/compat
    cloudflare-workers-ai https://api.cloudflare.com/client/v4/accounts/x/ai/v1
    opencode https://opencode.ai/zen/v1
    corp https://llm.chutes.ai/v1
    vercel-ai-gateway https://ai-gateway.vercel.sh/v1
    corp https://example.org/v1
"""
KEPT: tuple[Case, ...] = ({}, {"cacheRetention": "long"}, {"cacheRetention": "none"})
SESSION = {"sessionId": "s1"}


def providers() -> Iterator[Case]:
    """What is known of providers, by their name and by their address."""
    hosts = [line.split() for line in HOSTS.strip().splitlines()]
    for (provider, url), kept in product(hosts, KEPT):
        where = {"provider": provider, "baseUrl": url}
        yield case(CHAT, {}, options={**SESSION, **kept, "reasoning": "high"}, **where)
        if "openai" in url or "openrouter" in url:
            yield case(RESPONSES, {}, options={**SESSION, **kept}, **where)
            yield case(MESSAGES, {}, options={**SESSION, **kept}, **where)
    router = {"provider": "openrouter", "baseUrl": "https://openrouter.ai/api/v1"}
    for kept in KEPT:
        yield case(CHAT, {}, options=kept, id="anthropic/claude-x", **router)


def caching() -> Iterator[Case]:
    """Keys, headers and times of caches."""
    formats = (None, "openai", "openai-nosession", "openrouter")
    for api, form, send, kept in product(APIS, formats, (None, True, False), KEPT):
        compat = {"sessionAffinityFormat": form, "sendSessionAffinityHeaders": send}
        if api in (CHAT, RESPONSES, MESSAGES):
            yield case(api, compat, options={**SESSION, **kept})
    modes = ("auto", "enabled", "disabled")
    flags = ("supportsExplicitPromptCacheMode", "supportsLongCacheRetention")
    for api, mode, flag, kept in product((CHAT, RESPONSES), modes, flags, KEPT):
        compat = {"promptCacheKeyMode": mode, flag: flag.startswith("supportsExplicit")}
        yield case(api, compat, options={**SESSION, **kept})


SINGLE: tuple[Case, ...] = (
    {"vercelGatewayRouting": {"only": ["a"], "order": ["b", "c"]}},
    {"vercelGatewayRouting": {"only": ["a"]}},
    {"vercelGatewayRouting": {}},
    {"openRouterRouting": {"order": ["a"], "zdr": True}},
    {"zaiToolStream": True},
    {"vllmPriority": 0},
    {"requiresReasoningContentOnAssistantMessages": True},
    {"requiresNonNullAssistantContent": True},
    {"requiresToolsWithToolHistory": True},
    {"cacheControlFormat": "anthropic"},
    {"thinkingTokenBudgetField": "thinking_budget"},
    {"supportsThinkingTokenBudget": True},
    {"supportsStrictMode": True},
    {"supportsDeveloperRole": True},
    {"supportsDeveloperRole": False},
    {"supportsMaxOutputTokens": False},
    {"supportsCacheControlOnTools": False},
    {"supportsEagerToolInputStreaming": False},
    {"forceAdaptiveThinking": True},
    {"allowedFallbackModels": [{"provider": "corp", "model": "f", "cost": USUAL["cost"]}]},
    {"allowedFallbackModels": []},
)


def switches() -> Iterator[Case]:
    """One switch at a time, with every API, with tools and without."""
    asked: tuple[Case, ...] = ({}, {"reasoning": "high"}, {"cacheRetention": "long"})
    for api, compat, options in product((CHAT, RESPONSES, MESSAGES), SINGLE, asked):
        yield case(api, compat, options=options)
        yield case(api, compat, options=options, tools=[])


def levels() -> Iterator[Case]:
    """Levels that are told inside the conversation."""
    names: tuple[Any, ...] = ({"max": "max"}, {"off": None, "max": "max"})
    compat = {"supportsMidConvoEffort": True, "forceAdaptiveThinking": True}
    for api, named, level, before in product(
        (RESPONSES, MESSAGES), names, (None, "low", "high", "max"), (None, "high")
    ):
        if (
            level or "off" not in named
        ):  # pi thinks hard where it cannot be off; we as little as we can
            options = {"reasoning": level} if level else {}
            yield case(api, compat, thinkingLevelMap=named, options=options, level=before)


def theirs(cases: list[Case]) -> list[Any]:
    pi = found()
    assert pi is not None
    api = pi.node.parents[1] / "@earendil-works" / "pi-ai" / "dist" / "api"
    done = subprocess.run(
        [pi.node, SENDS, api], input=json.dumps(cases).encode(), capture_output=True, check=True
    )
    sent: list[Any] = json.loads(done.stdout)
    return sent


def ours(one: Case) -> Any:
    options, model = one["options"], one["model"]
    info = replace(info_of(model, options), base_url=model["baseUrl"])
    system, *spoken = one["context"]["messages"]
    request = ModelRequest(
        system["content"],
        tuple(messages_of(spoken)),
        tuple(ToolSpec(t["name"], t["description"], t["parameters"]) for t in system["toolsAdded"]),
        thinking=options.get("reasoning", "off"),
        cache=options.get("cacheRetention") != "none",
        session_id=options.get("sessionId", ""),
    )
    body = json.loads(Memo(APIS[info.api].form, info).encode(request))
    return {"headers": APIS[info.api].headers(info, request, "sk-key"), "body": body}


def told(sent: Any) -> Any:
    """Without what no switch is about: keys, the program's name, names that it makes up."""
    headers = {
        name: value
        for name, value in sent["headers"].items()
        if not name.startswith(NOT_OURS) and name not in KEYS
    }
    body = json.loads(json.dumps(sent["body"]).replace('"msg_pi_', '"msg_st_'))
    return {"headers": headers, "body": body}


@pytest.mark.parametrize("table", [thinking, providers, caching, switches, levels])
def test_what_pi_sends_we_send(table: Any) -> None:
    cases = list(table())
    sent = theirs(cases)
    assert len(sent) == len(cases)
    for one, wanted in zip(cases, sent, strict=True):
        assert told(ours(one)) == told(wanted), one["model"]
