"""The switches by which servers of one API differ: models.json's, else the provider's, else ours.

Names and meaning are those of `compat` in models.json; null there says nothing. Pure. Read next:
detect.py (what a provider's are), openai.py (who asks most).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.detect import detected
from singletree.model.proxies import host_of
from singletree.model.thinking import asked

DEFAULTS: Mapping[str, JsonValue] = {
    "supportsUsageInStreaming": True,
    "supportsStore": True,
    "supportsReasoningEffort": True,
    "supportsFinishReason": True,
    "supportsTemperature": True,
    "supportsMaxOutputTokens": True,
    "supportsLongCacheRetention": True,
    "supportsCacheControlOnTools": True,
    "maxTokensField": "max_completion_tokens",
    "thinkingFormat": "openai",
    "sessionAffinityFormat": "openai",
    "promptCacheKeyMode": "auto",
    "cacheRetention": "short",
}
_OF_API: Mapping[str, Mapping[str, JsonValue]] = {
    "openai-responses": {"supportsDeveloperRole": True},
}
"""Where an API as a whole has another default."""
KEY_LENGTH = 64
"""What OpenAI takes of a cache key."""


def setting(info: ModelInfo, name: str) -> JsonValue:
    """A switch: the model's own, else its provider's, else the default."""
    value = info.compat.get(name)
    return value if value is not None else _usual(info).get(name)


def _usual(info: ModelInfo) -> Mapping[str, JsonValue]:
    return _merged(info.api, info.provider, info.base_url, info.id)


@lru_cache(maxsize=256)
def _merged(api: str, provider: str, base_url: str, model_id: str) -> Mapping[str, JsonValue]:
    """All that holds where models.json says nothing; a request asks for some thirty switches."""
    return {**DEFAULTS, **_OF_API.get(api, {}), **detected(provider, base_url, model_id)}


def flag(info: ModelInfo, name: str) -> bool:
    """A switch that is on or off."""
    return setting(info, name) is True


def option(info: ModelInfo, name: str) -> str:
    """A switch with a word, "" where it has none."""
    value = setting(info, name)
    return value if isinstance(value, str) else ""


def table(info: ModelInfo, name: str) -> Json:
    """A switch that holds others, empty where it has none."""
    value = setting(info, name)
    return dict(value) if isinstance(value, dict) else {}


def sampling(info: ModelInfo, request: ModelRequest) -> Json:
    """What models.json says about drawing words: in general, and at this thinking level."""
    levels = table(info, "samplingParamsByThinkingLevel")
    own = levels.get(asked(info, request.thinking))
    return {**table(info, "samplingParams"), **(own if isinstance(own, dict) else {})}


def keeps_long(info: ModelInfo, request: ModelRequest) -> bool:
    """Whether the provider is to keep a prompt longer than it does by itself."""
    long = request.cache and option(info, "cacheRetention") == "long"
    return long and flag(info, "supportsLongCacheRetention")


def cache_key(info: ModelInfo, request: ModelRequest) -> Json:
    """What names a conversation to a chat server's cache, for those that take it."""
    mode = option(info, "promptCacheKeyMode")
    usual = host_of(info.base_url) == "api.openai.com" or keeps_long(info, request)
    wanted = mode == "enabled" or (mode == "auto" and usual)
    if not (wanted and request.cache and request.session_id):
        return {}
    return {"prompt_cache_key": request.session_id[:KEY_LENGTH]}
