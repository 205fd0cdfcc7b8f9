"""The switches by which servers of one API differ, and what they are where nobody said.

Names and meaning are those of `compat` in models.json. Defaults follow the provider or the address.
Pure. Read next: openai.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from pydantic import JsonValue

from singletree.messages import Content, Image, Text, Thinking, ToolCall, utf16_units
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.proxies import host_of, is_loopback

DEFAULTS: Mapping[str, JsonValue] = {
    "supportsUsageInStreaming": True,
    "supportsStore": True,
    "supportsReasoningEffort": True,
    "supportsFinishReason": True,
    "supportsTemperature": True,
    "supportsMaxOutputTokens": True,
    "maxTokensField": "max_completion_tokens",
    "thinkingFormat": "openai",
    "cacheRetention": "short",
}

_LOCAL: Mapping[str, JsonValue] = {
    "supportsStore": False,
    "maxTokensField": "max_tokens",
}
BY_PROVIDER: Mapping[str, Mapping[str, JsonValue]] = {
    "anthropic": {"supportsEagerToolInputStreaming": True},
    "openai": {"promptCacheKeyMode": "session", "supportsDeveloperRole": True},
    "openrouter": {
        "supportsStore": False,
        "asksForCost": True,
        "thinkingFormat": "openrouter",
        "maxTokensField": "max_tokens",
    },
    "groq": {"supportsStore": False},
    "deepseek": {
        "supportsStore": False,
        "maxTokensField": "max_tokens",
        "thinkingFormat": "deepseek",
        "requiresReasoningContentOnAssistantMessages": True,
    },
    "mistral": {"supportsStore": False, "maxTokensField": "max_tokens", "toolCallIds": "nine"},
    "cerebras": {"supportsStore": False},
    "xai": {"supportsStore": False, "supportsReasoningEffort": False},
    "zai": {"supportsStore": False, "thinkingFormat": "zai", "maxTokensField": "max_tokens"},
    "ollama": _LOCAL,
    "llama.cpp": _LOCAL,
    "lmstudio": _LOCAL,
    "vllm": _LOCAL,
}
_BY_HOST = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
    "api.cerebras.ai": "cerebras",
    "api.x.ai": "xai",
    "api.z.ai": "zai",
}
_MARGIN = 0.15
_LEAST = 256
_IMAGE_UNITS = 4800


def setting(info: ModelInfo, name: str) -> JsonValue:
    """A switch: the model's own, else its provider's, else the default."""
    if name in info.compat:
        return info.compat[name]
    own = BY_PROVIDER.get(info.provider)
    if own is None:
        own = _at(info.base_url)
    return own.get(name, DEFAULTS.get(name))


@lru_cache(maxsize=64)
def _at(base_url: str) -> Mapping[str, JsonValue]:
    """The switches of a provider that is known by its address only."""
    host = host_of(base_url)
    return _LOCAL if is_loopback(host) else BY_PROVIDER.get(_BY_HOST.get(host, ""), {})


def flag(info: ModelInfo, name: str) -> bool:
    """A switch that is on or off."""
    return setting(info, name) is True


def option(info: ModelInfo, name: str) -> str:
    """A switch with a word, "" where it has none."""
    value = setting(info, name)
    return value if isinstance(value, str) else ""


def output_limit(info: ModelInfo, request: ModelRequest, tokens: int) -> int:
    """Tokens the answer may have: what was asked for, but no more than fits behind the request.

    `tokens` is the request's estimated size; 15 % more are left free, so that a small window is not
    refused for an output limit it could never fill.
    """
    wanted = min(request.max_tokens or info.max_output, info.max_output)
    if info.context_window <= 0:
        return wanted
    room = info.context_window - math.ceil(tokens * (1 + _MARGIN)) - _LEAST
    return min(wanted, max(room, _LEAST))


def request_tokens(request: ModelRequest) -> int:
    """A rough size of a request in tokens."""
    messages = sum(content_units(message.content) for message in request.messages)
    return tokens_of(frame_units(request) + messages)


def tokens_of(units: int) -> int:
    """Characters as tokens: 4 each."""
    return math.ceil(units / 4)


def frame_units(request: ModelRequest) -> int:
    """Characters of what a request carries besides its messages."""
    units = utf16_units(request.system)
    for tool in request.tools:
        units += len(tool.name) + len(tool.description) + len(str(tool.schema))
    return units


def content_units(content: Content) -> int:
    """Characters of a content, as token estimates count them."""
    if isinstance(content, str):
        return utf16_units(content)
    units = 0
    for block in content:
        if isinstance(block, Text):
            units += utf16_units(block.text)
        elif isinstance(block, Thinking):
            units += utf16_units(block.thinking)
        elif isinstance(block, ToolCall):
            units += len(block.name) + len(str(block.arguments))
        elif isinstance(block, Image):
            units += _IMAGE_UNITS
    return units
