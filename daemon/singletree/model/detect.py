"""What servers want where models.json says nothing, known by the provider's name or its address.

Data, and who it holds for. Never knows a request. Read next: dialect.py (who asks), switches.py
(all switches there are).
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from singletree.model.proxies import host_of, is_loopback

Switches = Mapping[str, JsonValue]

_LOCAL: Switches = {"supportsStore": False, "maxTokensField": "max_tokens"}
_OTHER: Switches = {"supportsStore": False}
_PLAIN: Switches = {**_LOCAL, "supportsReasoningEffort": False}
_SHORT: Switches = {"supportsLongCacheRetention": False}

BY_PROVIDER: Mapping[str, Switches] = {
    "anthropic": {"supportsEagerToolInputStreaming": True},
    "openai": {"supportsDeveloperRole": True},
    "openrouter": {
        "thinkingFormat": "openrouter",
        "sendSessionAffinityHeaders": True,
        "sessionAffinityFormat": "openrouter",
    },
    "deepseek": {
        **_LOCAL,
        "thinkingFormat": "deepseek",
        "requiresReasoningContentOnAssistantMessages": True,
    },
    "mistral": {**_LOCAL, "toolCallIds": "nine"},
    "cerebras": _OTHER,
    "opencode": _OTHER,
    "chutes": _LOCAL,
    "xai": {**_OTHER, "supportsReasoningEffort": False},
    "zai": {**_PLAIN, "thinkingFormat": "zai"},
    "moonshotai": _PLAIN,
    "together": {**_PLAIN, **_SHORT, "thinkingFormat": "together"},
    "ant-ling": {**_PLAIN, **_SHORT, "thinkingFormat": "ant-ling"},
    "nvidia": {**_PLAIN, **_SHORT},
    "cloudflare-ai-gateway": {**_PLAIN, **_SHORT},
    "cloudflare-workers-ai": {**_OTHER, **_SHORT},
    "ollama": _LOCAL,
    "llama.cpp": _LOCAL,
    "lmstudio": _LOCAL,
    "vllm": _LOCAL,
}
_SAME = {"zai-coding-cn": "zai", "moonshotai-cn": "moonshotai"}
"""Providers with the switches of another one."""
_BY_HOST = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
    "deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
    "cerebras.ai": "cerebras",
    "opencode.ai": "opencode",
    "chutes.ai": "chutes",
    "api.x.ai": "xai",
    "api.z.ai": "zai",
    "open.bigmodel.cn": "zai",
    "api.moonshot.ai": "moonshotai",
    "api.moonshot.cn": "moonshotai",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.ant-ling.com": "ant-ling",
    "integrate.api.nvidia.com": "nvidia",
    "gateway.ai.cloudflare.com": "cloudflare-ai-gateway",
    "api.cloudflare.com": "cloudflare-workers-ai",
}
"""A host, with all below it."""
_CLAUDE: Switches = {"cacheControlFormat": "anthropic"}
"""OpenRouter caches for Claude only what is marked."""


def detected(provider: str, base_url: str, model_id: str) -> Switches:
    """The switches of a model's provider; by its address if nobody knows the name."""
    known = BY_PROVIDER.get(_SAME.get(provider, provider))
    if known is None:
        known = _at(host_of(base_url).rstrip("."))
    claude = provider == "openrouter" and model_id.startswith("anthropic/")
    return {**known, **_CLAUDE} if claude else known


def _at(host: str) -> Switches:
    if is_loopback(host):
        return _LOCAL
    labels = host.split(".")
    for n in range(len(labels)):
        known = _BY_HOST.get(".".join(labels[n:]))
        if known is not None:
            return BY_PROVIDER[known]
    return {}
