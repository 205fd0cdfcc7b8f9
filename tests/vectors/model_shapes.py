"""Vectors' models and messages in our shapes, and our texts in the vectors' markers."""

from __future__ import annotations

import json
import re
from typing import Any

from singletree.messages import (
    AGENT_MESSAGE,
    AssistantMessage,
    Message,
    ToolResultMessage,
    UserMessage,
)
from singletree.model import anthropic, openai, transform
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.thinking import levels_of
from singletree.model.usage import price_of

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "ggAA"
)
"""The vectors' pictures are none, and ours are judged by their bytes: one goes before each."""

MARKERS = {
    "no-result": transform.NO_RESULT,
    "image-omitted": transform.IMAGE_OMITTED,
    "tool-image-omitted": transform.TOOL_IMAGE_OMITTED,
    "no-tool-output": openai.NO_OUTPUT,
    "see-image": openai.SEE_IMAGE,
    "images-from-tool": openai.IMAGES_FOLLOW,
    "bridge": openai.BRIDGE,
    "image-after-results": anthropic.IMAGE_AFTER,
}
_ERROR_IMAGES = re.compile(
    re.escape(anthropic.ERROR_IMAGES).replace(r"\{id\}", r"(\S+)").replace(r"\{tool\}", r"([^:]+)")
)


def info_of(model: dict[str, Any], options: dict[str, Any] | None = None) -> ModelInfo:
    """A model; options of a call that are switches of the model with us become such."""
    names = model.get("thinkingLevelMap", {})
    cost = model.get("cost", {})
    compat = {**model.get("compat", {}), "thinkingLevelMap": names}
    options = options or {}
    if "temperature" in options:
        compat["samplingParams"] = {"temperature": options["temperature"]}
    if "cacheRetention" in options and options["cacheRetention"] != "none":
        compat["cacheRetention"] = options["cacheRetention"]
    if "thinkingBudgets" in options:
        compat["thinkingBudgets"] = options["thinkingBudgets"]
    reasoning = model.get("reasoning", False)
    return ModelInfo(
        provider=model.get("provider", ""),
        id=model.get("id", ""),
        api=model.get("api", ""),
        context_window=model.get("contextWindow", 0),
        max_output=model.get("maxTokens", 16_384),
        reasoning=reasoning,
        levels=levels_of(reasoning, names),
        images="image" in model.get("input", []),
        price=price_of(cost),
        compat=compat,
    )


def request_of(context: dict[str, Any], options: dict[str, Any]) -> ModelRequest:
    """A request."""
    return ModelRequest(
        system=context.get("systemPrompt") or "",
        messages=tuple(messages_of(context["messages"])),
        tools=tuple(
            ToolSpec(t["name"], t["description"], t["parameters"]) for t in context.get("tools", [])
        ),
        thinking=options.get("reasoning", "off"),
        max_tokens=options.get("maxTokens"),
        cache=options.get("cacheRetention") != "none",
        session_id=options.get("sessionId", ""),
    )


def messages_of(raw: list[Any]) -> list[Message]:
    """Messages a model may see."""
    parsed = [
        AGENT_MESSAGE.validate_python(m) for m in json.loads(json.dumps(raw), object_hook=seen)
    ]
    return [m for m in parsed if isinstance(m, UserMessage | AssistantMessage | ToolResultMessage)]


def seen(given: dict[str, Any]) -> dict[str, Any]:
    """The object; a picture with bytes that are one."""
    return {**given, "data": PICTURE + given["data"]} if given.get("type") == "image" else given


def marked(value: Any) -> Any:
    """The same with our texts as markers."""
    if isinstance(value, dict):
        return {key: marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item) for item in value]
    if isinstance(value, str):
        value = value.replace(PICTURE, "")
        for name, text in MARKERS.items():
            value = value.replace(text, f"‹P:{name}›")
        value = _ERROR_IMAGES.sub(r"‹P:error-images \1 \2›", value)
        value = re.sub(r"^(call_x{26}_)[0-9a-f]{8}$", r"\1‹hash8›", value)
        value = re.sub(r"^fc_[0-9a-f]{16}$", "fc_‹hash›", value)
        return re.sub(r"^msg_st_", "msg_pi_", value)
    return value
