"""Google's generative language API: the request as a body.

Pure: `FORM` says how the body looks. A conversation is told in turns: a call stands in a turn of
the model behind one of the user, its result comes next, and the user has the first word and the
last. Never knows a key. Read next: google_stream.py (the answer), transform.py (the messages
before).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import assert_never

from pydantic import JsonValue

from singletree.jsontext import Json
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
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.dialect import flag, sampling
from singletree.model.form import Form
from singletree.model.images import OMITTED
from singletree.model.openai import IMAGES_FOLLOW, NO_OUTPUT, SEE_IMAGE, result_text
from singletree.model.thinking import asked, budget, effort, level_names, widened
from singletree.model.transform import plain_id, sendable

PATH = "/models/{model}:streamGenerateContent?alt=sse"
UNSIGNED = "skip_thought_signature_validator"
"""What Google wants in place of its own signature on a call that another model made."""
NO_WORDS = "(an empty message)"
EARLIER = "(What was said before this is not shown.)"
GO_ON = "Go on."
NO_GIF = "it is a GIF, which this model does not take"

_LEAST = "minimal"
"""The thinking level that comes nearest to none."""


def _envelope(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    config = _limits(info, request, limit)
    body: Json = {"generationConfig": config | sampling(info, request)}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": sendable(request.system)}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
    return body


def _head(info: ModelInfo, request: ModelRequest) -> list[JsonValue]:
    """A first word of the user's, where an answer is the first that is left of a conversation."""
    for message in request.messages:
        if isinstance(message, UserMessage):
            return []
        if isinstance(message, AssistantMessage) and not message.failed:
            return [_turn("user", [{"text": EARLIER}])]
    return []


def _speak(
    info: ModelInfo, request: ModelRequest, ready: Sequence[Message], before: int
) -> list[list[JsonValue]]:
    """The conversation; what the model said in a row is one turn, and so are its results."""
    out: list[JsonValue] = []
    names: dict[str, str] = {}
    for _, row in groupby(ready, key=type):
        said: list[JsonValue] = []
        results: list[ToolResultMessage] = []
        for message in row:
            match message:
                case UserMessage():
                    out.append(_turn("user", _parts(message.content) or [{"text": NO_WORDS}]))
                case AssistantMessage():
                    names.update((call.id, call.name) for call in message.tool_calls)
                    said += _said(info, message)
                case ToolResultMessage():
                    results.append(message)
                case _:
                    assert_never(message)
        if said:
            out.append(_turn("model", said))
        if results:
            out.extend(_answered(results, names))
    return [out]


def _end_with_user(
    info: ModelInfo, request: ModelRequest, body: Json, items: list[JsonValue]
) -> bool:
    """Newer models refuse a request whose last turn is their own."""
    last = items[-1] if items else None
    if isinstance(last, dict) and last["role"] == "model":
        items.append(_turn("user", [{"text": GO_ON}]))
    return True


def _rename(call_id: str, own: bool) -> str:
    return plain_id(call_id, 64)


def _turn(role: str, parts: list[JsonValue]) -> Json:
    return {"role": role, "parts": parts}


def _parts(content: Content) -> list[JsonValue]:
    blocks = [Text(text=content)] if isinstance(content, str) else content
    out: list[JsonValue] = []
    for block in blocks:
        if isinstance(block, Text) and block.text.strip():
            out.append({"text": sendable(block.text)})
        elif isinstance(block, Image):
            out.append(_picture(block))
    return out


def _picture(image: Image) -> Json:
    if image.mime_type == "image/gif":
        return {"text": OMITTED.format(why=NO_GIF)}
    return {"inlineData": {"mimeType": image.mime_type, "data": image.data}}


def _said(info: ModelInfo, message: AssistantMessage) -> list[JsonValue]:
    out: list[JsonValue] = []
    unsigned = "" if flag(info, "usesThinkingBudget") else UNSIGNED
    for block in message.content:
        if isinstance(block, Text) and (block.text.strip() or block.text_signature):
            out.append(_signed({"text": sendable(block.text)}, block.text_signature))
        elif isinstance(block, Thinking) and block.thinking_signature:
            thought: Json = {"text": sendable(block.thinking), "thought": True}
            out.append(_signed(thought, block.thinking_signature))
        elif isinstance(block, ToolCall):
            call: Json = {"id": block.id, "name": block.name, "args": block.arguments}
            out.append(_signed({"functionCall": call}, block.thought_signature or unsigned))
            unsigned = ""  # of several calls only the first is signed
    return out


def _signed(part: Json, signature: str | None) -> Json:
    return part | ({"thoughtSignature": signature} if signature else {})


def _answered(results: Sequence[ToolResultMessage], names: Mapping[str, str]) -> list[JsonValue]:
    """The results of one answer in one turn, their pictures in another behind it."""
    out: list[JsonValue] = [_turn("user", [_result(result, names) for result in results])]
    pictures = [_picture(image) for result in results for image in _images(result)]
    if pictures:
        out.append(_turn("user", [{"text": IMAGES_FOLLOW}, *pictures]))
    return out


def _result(message: ToolResultMessage, names: Mapping[str, str]) -> Json:
    text = result_text(message.content) or (SEE_IMAGE if _images(message) else NO_OUTPUT)
    return {
        "functionResponse": {
            "id": message.tool_call_id,
            "name": names.get(message.tool_call_id, message.tool_name),
            "response": {"error" if message.is_error else "output": text},
        }
    }


def _images(message: ToolResultMessage) -> list[Image]:
    blocks = [] if isinstance(message.content, str) else message.content
    return [block for block in blocks if isinstance(block, Image)]


def _tool(spec: ToolSpec) -> Json:
    return {
        "name": spec.name,
        "description": spec.description,
        "parametersJsonSchema": dict(spec.schema),
    }


def _limits(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    """How much may be said and thought."""
    if not info.reasoning:
        return {"maxOutputTokens": limit}
    level = asked(info, request.thinking)
    limit = widened(info, request, level, limit)
    how: Json = {"thinkingLevel": _word(info, level)}
    if flag(info, "usesThinkingBudget"):
        how = {"thinkingBudget": budget(info, level, limit)}
    if request.thinking != "off":
        how["includeThoughts"] = True
    return {"maxOutputTokens": limit, "thinkingConfig": how}


def _word(info: ModelInfo, level: ThinkingLevel) -> str:
    named = effort(info, level) if level != "off" else level_names(info).get("off")
    return (named if isinstance(named, str) else _LEAST).upper()


FORM = Form(
    field="contents",
    rename=lambda info: _rename,
    head=_head,
    speak=_speak,
    envelope=_envelope,
    mark=_end_with_user,
)
