"""Cache marks in chat completions, in Anthropic's form, for servers that pass them on to it.

On the system prompt, the last tool, and the newest message that has a text. Pure. Read next:
openai.py (the body that is marked), memo.py (which gives the newest part only).
"""

from __future__ import annotations

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import keeps_long, option

_NEWEST = ("user", "assistant", "tool")


def mark_cache(info: ModelInfo, request: ModelRequest, body: Json, spoken: list[JsonValue]) -> bool:
    """Set the marks in place; False if no message that is given can bear the newest one."""
    if not request.cache or option(info, "cacheControlFormat") != "anthropic":
        return True
    mark: Json = {"type": "ephemeral"}
    if keeps_long(info, request):
        mark["ttl"] = "1h"
    tools = body.get("tools")
    last = tools[-1] if isinstance(tools, list) and tools else None
    if isinstance(last, dict):
        last["cache_control"] = mark
    for message in spoken[:1]:
        if isinstance(message, dict) and message["role"] in ("system", "developer"):
            _mark_message(message, mark)
    for message in reversed(spoken):
        spoken_by = message["role"] if isinstance(message, dict) else ""
        if spoken_by in _NEWEST and _mark_message(message, mark):
            return True
    return False


def _mark_message(message: JsonValue, mark: JsonValue) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    if isinstance(content, str) and content:
        message["content"] = [{"type": "text", "text": content, "cache_control": mark}]
        return True
    if isinstance(content, list):
        for part in reversed(content):
            if isinstance(part, dict) and part.get("type") == "text":
                part["cache_control"] = mark
                return True
    return False
