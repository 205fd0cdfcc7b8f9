"""The responses API: the request as a body.

Reasoning goes back as the items it came in (encrypted), ids of calls are two: `call_id|item_id`.
Pure. Read next: responses_stream.py (the answer), transform.py (the messages before).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from singletree.jsontext import Json, decoded
from singletree.messages import (
    AssistantMessage,
    Content,
    Image,
    Message,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import KEY_LENGTH, flag, keeps_long, option, sampling
from singletree.model.effort import told_before, told_inside
from singletree.model.form import Form
from singletree.model.openai import NO_OUTPUT, arguments, function, instructions, result_text
from singletree.model.thinking import effort, level_names, wished
from singletree.model.transform import made_by, plain_id, sendable, short_hash

PATH = "/responses"
LEAST_OUTPUT = 16
ENCRYPTED = "reasoning.encrypted_content"
FIXED_EFFORT = "medium"
"""What a request says for ever whose levels are told inside the conversation."""


def _envelope(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    body: Json = {"model": info.id, "stream": True, "store": False}
    if flag(info, "supportsMaxOutputTokens"):
        body["max_output_tokens"] = max(limit, LEAST_OUTPUT)
    if request.tools:
        body["tools"] = [function(info, spec) | {"type": "function"} for spec in request.tools]
    body.update(_caching(info, request))
    if info.reasoning:
        body.update(_reasoning(info, request))
    return body | sampling(info, request)


def _caching(info: ModelInfo, request: ModelRequest) -> Json:
    """How long a prompt is kept, and by which name it is found; newer models have other words."""
    said: Json = {}
    newer = flag(info, "supportsExplicitPromptCacheMode")
    named = request.session_id and option(info, "promptCacheKeyMode") != "disabled"
    if request.cache and named:
        said["prompt_cache_key"] = request.session_id[:KEY_LENGTH]
    if keeps_long(info, request):
        kept: Json = {"prompt_cache_options": {"ttl": "30m"}}
        said |= kept if newer else {"prompt_cache_retention": "24h"}
    elif newer and not request.cache:
        said["prompt_cache_options"] = {"mode": "explicit"}
    return said


def _speak(
    info: ModelInfo, request: ModelRequest, ready: Sequence[Message], before: int
) -> list[list[JsonValue]]:
    """The conversation as input items: a group for each message that has any."""
    out: list[list[JsonValue]] = []
    for message in ready:
        match message:
            case UserMessage():
                content = _user(message.content)
                new: list[JsonValue] = [{"role": "user", "content": content}] if content else []
            case AssistantMessage():
                new = _said(info, message, before + len(out))
                level = told_before(info, request, message) if new else None
                new = [_effort(info, level), *new] if level else new
            case ToolResultMessage():
                new = [_result(message)]
            case _:
                assert_never(message)
        if new:
            out.append(new)
    return out


def _rename(call_id: str, own: bool) -> str:
    """Both halves made plain; an item id of somebody else is replaced by one of ours."""
    call, bar, item = call_id.partition("|")
    if own:
        return f"{plain_id(call)}{bar}{item}"
    return f"{plain_id(call)}|fc_{short_hash(item, 16)}" if bar else plain_id(call)


def _user(content: Content) -> list[JsonValue]:
    if isinstance(content, str):
        return [{"type": "input_text", "text": sendable(content)}]
    return _parts(content)


def _parts(content: Content) -> list[JsonValue]:
    out: list[JsonValue] = []
    for block in content:
        if isinstance(block, Text):
            out.append({"type": "input_text", "text": sendable(block.text)})
        elif isinstance(block, Image):
            url = f"data:{block.mime_type};base64,{block.data}"
            out.append({"type": "input_image", "detail": "auto", "image_url": url})
    return out


def _said(info: ModelInfo, message: AssistantMessage, index: int) -> list[JsonValue]:
    out: list[JsonValue] = []
    texts = 0
    own = made_by(message, info)
    for block in message.content:
        if isinstance(block, Thinking):
            out.extend(_thought(block))
        elif isinstance(block, Text):
            made_up = f"msg_st_{index}" + (f"_{texts}" if texts else "")
            out.append(_message(block, made_up))
            texts += 1
        elif isinstance(block, ToolCall):
            out.append(_call(block, own, message.model == info.id))
    return out


def _thought(block: Thinking) -> list[JsonValue]:
    try:
        item = decoded(block.thinking_signature or "")
    except ValueError:
        return []
    return [item] if isinstance(item, dict) else []


def _message(block: Text, made_up: str) -> Json:
    name, phase = _signed(block.text_signature)
    out: Json = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": sendable(block.text), "annotations": []}],
        "status": "completed",
        "id": plain_id(name) if name else made_up,
    }
    return out | ({"phase": phase} if phase else {})


def _signed(signature: str | None) -> tuple[str, str]:
    """Item id and phase from a text's signature: JSON, or the bare id in older files."""
    if not signature:
        return "", ""
    if not signature.startswith("{"):
        return signature, ""
    try:
        value = decoded(signature)
    except ValueError:
        return "", ""
    if not isinstance(value, dict):
        return "", ""
    name, phase = value.get("id"), value.get("phase")
    return (name if isinstance(name, str) else "", phase if isinstance(phase, str) else "")


def _call(call: ToolCall, own: bool, same_model: bool) -> Json:
    call_id, _, item = call.id.partition("|")
    out: Json = {
        "type": "function_call",
        "call_id": call_id,
        "name": call.name,
        "arguments": arguments(call),
    }
    return out | ({"id": item} if item and (own or same_model) else {})


def _result(message: ToolResultMessage) -> Json:
    output: JsonValue = result_text(message.content)
    blocks = [] if isinstance(message.content, str) else message.content
    if any(isinstance(block, Image) for block in blocks):
        output = _parts([b for b in blocks if not isinstance(b, Text) or b.text.strip()])
    call_id = message.tool_call_id.partition("|")[0]
    if isinstance(output, str) and not output.strip():
        output = NO_OUTPUT
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _reasoning(info: ModelInfo, request: ModelRequest) -> Json:
    level = wished(info, request.thinking)
    if level == "off":
        if "off" not in info.levels:
            return {}
        named = level_names(info).get("off")
        return {"reasoning": {"effort": named if isinstance(named, str) else "none"}}
    word = FIXED_EFFORT if told_inside(info, request) else effort(info, level)
    how: Json = {"effort": word, "summary": "auto"}
    return {"reasoning": how, "include": [ENCRYPTED]}


def _effort(info: ModelInfo, level: ThinkingLevel) -> Json:
    return {"type": "configuration_update", "reasoning": {"effort": effort(info, level)}}


def _end_with_effort(
    info: ModelInfo, request: ModelRequest, body: Json, items: list[JsonValue]
) -> bool:
    """The level that is wanted now, where levels are told inside the conversation."""
    if told_inside(info, request):
        items.append(_effort(info, wished(info, request.thinking)))
    return True


FORM = Form(
    field="input",
    rename=lambda info: _rename,
    head=instructions,
    speak=_speak,
    envelope=_envelope,
    mark=_end_with_effort,
)
