"""Chat completions: the request as a body, for OpenAI and the many servers that speak its dialects.

Pure: `FORM` says how the body looks; what a dialect wants differently is a switch in `info.compat`,
named as in models.json. Never knows a key or a network. Read next: openai_stream.py (the answer),
chat_thinking.py (how thinking is asked for), chat_marks.py (what is cached), transform.py (what
happens to the messages before).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue

from singletree.jsontext import Json, decoded
from singletree.messages import (
    AssistantMessage,
    Content,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.chat_marks import mark_cache
from singletree.model.chat_thinking import thinking
from singletree.model.dialect import cache_key, flag, keeps_long, option, sampling, setting, table
from singletree.model.form import Form
from singletree.model.transform import Rename, plain_id, sendable, short_hash

PATH = "/chat/completions"
NO_OUTPUT = "(no output)"
SEE_IMAGE = "(an image; it follows)"
IMAGES_FOLLOW = "The images that the tool gave:"
BRIDGE = "I have seen the results."
"""Between results and the user's next words, for servers that want an answer there."""

ASIDES = {"openRouterRouting": "provider", "vllmPriority": "priority"}
"""Switches whose value a server gets as it is, by the name of the field it goes into."""
_NEVER_NULL = ("requiresNonNullAssistantContent", "requiresAssistantAfterToolResult")
"""Switches of servers that want a text beside calls, be it empty."""
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")


def _envelope(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    body: Json = {"model": info.id, "stream": True}
    if flag(info, "supportsUsageInStreaming"):
        body["stream_options"] = {"include_usage": True}
    if flag(info, "supportsStore"):
        body["store"] = False
    body[option(info, "maxTokensField")] = limit
    tools: list[JsonValue] = [
        {"type": "function", "function": function(info, spec)} for spec in request.tools
    ]
    if tools or (flag(info, "requiresToolsWithToolHistory") and _speaks_of_tools(request)):
        body["tools"] = tools
    if tools and flag(info, "zaiToolStream"):
        body["tool_stream"] = True
    if keeps_long(info, request):
        body["prompt_cache_retention"] = "24h"
    body.update(cache_key(info, request))
    body.update(_asides(info))
    if info.reasoning:
        body.update(thinking(info, request, limit))
    return body | sampling(info, request)


def _asides(info: ModelInfo) -> Json:
    """What is said to a router or a queue before the model."""
    said = {field: setting(info, own) for own, field in ASIDES.items()}
    routing = table(info, "vercelGatewayRouting")
    chosen: Json = {key: routing[key] for key in ("only", "order") if routing.get(key)}
    if chosen:
        said["providerOptions"] = {"gateway": chosen}
    return {field: value for field, value in said.items() if value is not None}


def instructions(info: ModelInfo, request: ModelRequest) -> list[JsonValue]:
    """The system prompt as a message of its own."""
    if not request.system:
        return []
    developer = info.reasoning and flag(info, "supportsDeveloperRole")
    role = "developer" if developer else "system"
    return [{"role": role, "content": sendable(request.system)}]


def _speak(
    info: ModelInfo, request: ModelRequest, ready: Sequence[Message], before: int
) -> list[list[JsonValue]]:
    """The conversation as chat messages."""
    out: list[JsonValue] = []
    for index, message in enumerate(ready):
        match message:
            case UserMessage():
                if index and isinstance(ready[index - 1], ToolResultMessage):
                    out.extend(_bridge(info))
                out.extend(_user(message.content))
            case AssistantMessage():
                out.extend(_assistant(info, message))
            case ToolResultMessage():
                out.append(_result(info, message))
                last = index + 1 == len(ready) or not isinstance(
                    ready[index + 1], ToolResultMessage
                )
                if last:
                    out.extend(_hoisted(info, ready, index))
    return [out]


def _renamer(info: ModelInfo) -> Rename:
    """How call ids of others become ones that this server takes."""

    def rename(call_id: str, own: bool) -> str:
        if option(info, "toolCallIds") == "nine":
            nine = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
            return call_id if nine else short_hash(call_id, 9)
        if "|" in call_id:
            return plain_id(call_id, 40)
        return call_id if 0 < len(call_id) <= 64 else plain_id(call_id, 64)

    return rename


def _user(content: Content) -> list[JsonValue]:
    if isinstance(content, str):
        return [{"role": "user", "content": sendable(content)}]
    parts: list[JsonValue] = []
    for block in content:
        if isinstance(block, Text) and block.text:
            parts.append({"type": "text", "text": sendable(block.text)})
        elif isinstance(block, Image):
            parts.append(_image(block))
    return [{"role": "user", "content": parts}] if parts else []


def _image(block: Image) -> Json:
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _assistant(info: ModelInfo, message: AssistantMessage) -> list[JsonValue]:
    texts = [sendable(b.text) for b in message.content if isinstance(b, Text) and b.text.strip()]
    thoughts = [b for b in message.content if isinstance(b, Thinking)]
    text = "".join(texts)
    out: Json = {"role": "assistant", "content": text or None}
    if flag(info, "requiresThinkingAsText"):
        thinking = [sendable(b.thinking) for b in thoughts if b.thinking.strip()]
        if thinking:
            spoken = ("\n\n".join(thinking), *texts)
            out["content"] = [{"type": "text", "text": text} for text in spoken]
    else:
        out.update(_reasoning(thoughts))
    if info.reasoning and flag(info, "requiresReasoningContentOnAssistantMessages"):
        out.setdefault("reasoning_content", "")
    calls = message.tool_calls
    if calls:
        out["tool_calls"] = [_call(call) for call in calls]
    if not out["content"] and not calls:
        return []
    if out["content"] is None and any(flag(info, name) for name in _NEVER_NULL):
        out["content"] = ""
    return [out]


def _reasoning(thoughts: Sequence[Thinking]) -> Json:
    """Reasoning goes back in the field it came in: `thinking_signature` names it."""
    joined = "\n".join(sendable(b.thinking) for b in thoughts if b.thinking.strip())
    for block in thoughts:
        signature = block.thinking_signature or ""
        if joined and signature in REASONING_FIELDS:
            return {signature: joined}
        if signature.startswith("["):
            try:
                return {"reasoning_details": decoded(signature)}
            except ValueError:
                continue
    return {}


def _call(call: ToolCall) -> Json:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments(call)},
    }


def arguments(call: ToolCall) -> str:
    """The arguments of a call as a text of JSON."""
    return sendable(json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":")))


def _result(info: ModelInfo, message: ToolResultMessage) -> Json:
    blocks = [] if isinstance(message.content, str) else message.content
    text = result_text(message.content)
    if not text.strip():
        seen = any(isinstance(b, Image) for b in blocks)
        text = SEE_IMAGE if seen else NO_OUTPUT
    out: Json = {"role": "tool", "content": text, "tool_call_id": message.tool_call_id}
    if flag(info, "requiresToolResultName") and message.tool_name:
        out["name"] = message.tool_name
    return out


def result_text(content: Content) -> str:
    """The text of a result, as one string."""
    if isinstance(content, str):
        return sendable(content)
    return sendable("\n".join(b.text for b in content if isinstance(b, Text)))


def _hoisted(info: ModelInfo, ready: Sequence[object], last: int) -> list[JsonValue]:
    """The pictures of the results up to `last`: a tool message takes text only."""
    first = last
    while first > 0 and isinstance(ready[first - 1], ToolResultMessage):
        first -= 1
    pictures: list[JsonValue] = []
    for message in ready[first : last + 1]:
        if isinstance(message, ToolResultMessage) and not isinstance(message.content, str):
            pictures += [_image(b) for b in message.content if isinstance(b, Image)]
    if not pictures:
        return []
    note: JsonValue = {"type": "text", "text": IMAGES_FOLLOW}
    return [*_bridge(info), {"role": "user", "content": [note, *pictures]}]


def _bridge(info: ModelInfo) -> list[JsonValue]:
    wanted = flag(info, "requiresAssistantAfterToolResult")
    return [{"role": "assistant", "content": BRIDGE}] if wanted else []


def function(info: ModelInfo, spec: ToolSpec) -> Json:
    """A tool as OpenAI's APIs are told of it."""
    told: Json = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.schema),
    }
    return told | ({"strict": False} if flag(info, "supportsStrictMode") else {})


def _speaks_of_tools(request: ModelRequest) -> bool:
    return any(
        isinstance(m, ToolResultMessage) or (isinstance(m, AssistantMessage) and m.tool_calls)
        for m in request.messages
    )


FORM = Form(
    field="messages",
    rename=_renamer,
    head=instructions,
    speak=_speak,
    envelope=_envelope,
    mark=mark_cache,
)
