"""The messages API: the request as a body.

Pure: `FORM` says how the body looks. Never knows a key. Read next: anthropic_stream.py (the
answer), anthropic_thinking.py (how thinking is asked for), transform.py (the messages before).
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.messages import (
    AssistantMessage,
    Block,
    Content,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.anthropic_thinking import OFF, effort_message, fallbacks, thinking
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.dialect import flag, keeps_long, sampling
from singletree.model.effort import told_before, told_inside
from singletree.model.form import Form
from singletree.model.openai import SEE_IMAGE, result_text
from singletree.model.thinking import wished
from singletree.model.transform import plain_id, sendable

PATH = "/v1/messages"
VERSION = "2023-06-01"
IMAGE_AFTER = "(an image; it follows behind the results)"
ERROR_IMAGES = "Images of the failed call {id} of {tool}:"


def _envelope(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    limit, thoughts = thinking(info, request, limit)
    body: Json = {"model": info.id, "max_tokens": limit, "stream": True}
    mark = _mark(info, request)
    if request.system:
        system: Json = {"type": "text", "text": sendable(request.system)}
        body["system"] = [system | mark]
    if request.tools:
        tools: list[JsonValue] = [_tool(info, spec) for spec in request.tools[:-1]]
        last = _tool(info, request.tools[-1])
        marked = flag(info, "supportsCacheControlOnTools")
        body["tools"] = [*tools, last | mark if marked else last]
    others = fallbacks(info)
    if others:
        body["fallbacks"] = [{"model": model} for model in others]
    left_out = [] if flag(info, "supportsTemperature") else ["temperature", "top_p", "top_k"]
    if thoughts.get("thinking", OFF) != OFF:
        left_out.append("temperature")
    drawn = sampling(info, request)
    body.update({k: v for k, v in drawn.items() if k not in left_out})
    return body | thoughts


def _speak(
    info: ModelInfo, request: ModelRequest, ready: Sequence[Message], before: int
) -> list[list[JsonValue]]:
    """The conversation; results of one answer stand together in one user message."""
    out: list[JsonValue] = []
    results: list[JsonValue] = []
    pictures: list[JsonValue] = []
    for message in ready:
        if isinstance(message, ToolResultMessage):
            results.append(_result(message))
            pictures.extend(_error_pictures(message))
            continue
        if results:
            out.append({"role": "user", "content": [*results, *pictures]})
            results, pictures = [], []
        if isinstance(message, UserMessage):
            content = _user(message.content)
            if content:
                out.append({"role": "user", "content": content})
        else:
            said = _said(info, message)
            level = told_before(info, request, message) if said else None
            if level:
                out.append(effort_message(info, level))
            if said:
                out.append({"role": "assistant", "content": said})
    if results:
        out.append({"role": "user", "content": [*results, *pictures]})
    return [out]


def _rename(call_id: str, own: bool) -> str:
    return plain_id(call_id, 64)


def _user(content: Content) -> str | list[JsonValue]:
    if isinstance(content, str):
        return sendable(content) if content.strip() else ""
    return _blocks(content)


def _blocks(content: Sequence[Block]) -> list[JsonValue]:
    out: list[JsonValue] = []
    for block in content:
        if isinstance(block, Text) and block.text.strip():
            out.append({"type": "text", "text": sendable(block.text)})
        elif isinstance(block, Image):
            source: Json = {"type": "base64", "media_type": block.mime_type, "data": block.data}
            out.append({"type": "image", "source": source})
    return out


def _said(info: ModelInfo, message: AssistantMessage) -> list[JsonValue]:
    out: list[JsonValue] = []
    for block in message.content:
        if isinstance(block, Text) and block.text.strip():
            out.append({"type": "text", "text": sendable(block.text)})
        elif isinstance(block, Thinking):
            out.extend(_thought(info, block))
        elif isinstance(block, ToolCall):
            out.append(
                {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
            )
    return out


def _thought(info: ModelInfo, block: Thinking) -> list[JsonValue]:
    """Reasoning goes back only with the signature that proves it."""
    if block.redacted:
        return [{"type": "redacted_thinking", "data": block.thinking_signature or ""}]
    if not block.thinking_signature and not flag(info, "allowEmptySignature"):
        return []
    signature = block.thinking_signature or ""
    return [{"type": "thinking", "thinking": sendable(block.thinking), "signature": signature}]


def _result(message: ToolResultMessage) -> Json:
    content: JsonValue = result_text(message.content)
    blocks = [] if isinstance(message.content, str) else message.content
    if message.is_error and _pictures(message):
        content = "\n".join(t for t in (result_text(message.content), IMAGE_AFTER) if t)
    elif _pictures(message):
        parts = _blocks(blocks)
        has_text = any(isinstance(b, Text) and b.text.strip() for b in blocks)
        note: JsonValue = {"type": "text", "text": SEE_IMAGE}
        content = parts if has_text else [note, *parts]
    return {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": content,
        "is_error": message.is_error,
    }


def _pictures(message: ToolResultMessage) -> list[Image]:
    blocks = [] if isinstance(message.content, str) else message.content
    return [block for block in blocks if isinstance(block, Image)]


def _error_pictures(message: ToolResultMessage) -> list[JsonValue]:
    """A failed result may hold text only: its pictures stand behind all results."""
    pictures = _pictures(message) if message.is_error else []
    if not pictures:
        return []
    words = ERROR_IMAGES.format(id=message.tool_call_id, tool=message.tool_name)
    return [{"type": "text", "text": words}, *_blocks(pictures)]


def _tool(info: ModelInfo, spec: ToolSpec) -> Json:
    tool: Json = {"name": spec.name, "description": spec.description}
    if flag(info, "supportsEagerToolInputStreaming"):
        tool["eager_input_streaming"] = True
    least: Json = {"type": "object", "properties": {}, "required": []}
    return tool | {"input_schema": least | dict(spec.schema)}


def _mark(info: ModelInfo, request: ModelRequest) -> Json:
    if not request.cache:
        return {}
    kept: Json = {"type": "ephemeral"}
    if keeps_long(info, request):
        kept["ttl"] = "1h"
    return {"cache_control": kept}


def _end(info: ModelInfo, request: ModelRequest, body: Json, items: list[JsonValue]) -> bool:
    """A cache mark, and the level that is wanted now where levels are told inside."""
    _mark_last_user(info, request, items)
    if told_inside(info, request):
        items.append(effort_message(info, wished(info, request.thinking)))
    return True


def _mark_last_user(info: ModelInfo, request: ModelRequest, items: list[JsonValue]) -> None:
    """The newest words are where the next request will take up the cache."""
    mark = _mark(info, request)
    last = items[-1] if items else None
    if not mark or not isinstance(last, dict) or last["role"] != "user":
        return
    content = last["content"]
    if isinstance(content, str):
        text: Json = {"type": "text", "text": content}
        last["content"] = [text | mark]
    elif isinstance(content, list) and isinstance(content[-1], dict):
        content[-1] = content[-1] | mark


FORM = Form(
    field="messages",
    rename=lambda info: _rename,
    head=lambda info, request: [],
    speak=_speak,
    envelope=_envelope,
    mark=_end,
)
