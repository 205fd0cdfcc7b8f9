"""A conversation made fit for one model: what others left in it is dropped, renamed or completed.

Reasoning and signatures of other models go, answers that failed go, every call gets exactly one
result right behind it, results of nobody go, pictures become a note where the model is blind. Pure;
the messages given are never changed. Read next: images.py, openai.py (who sends the result).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

from singletree.messages import (
    AssistantMessage,
    Block,
    Content,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.base import ModelInfo
from singletree.model.images import noted, sendable_images
from singletree.model.partial_json import join_pairs

NO_RESULT = "No result: the tool did not run to its end, or what it gave was lost."
IMAGE_OMITTED = "[An image was here; this model cannot see images.]"
TOOL_IMAGE_OMITTED = "[The tool gave an image; this model cannot see images.]"
NAMELESS = "call"
"""The id of a call that has none."""

Rename = Callable[[str, bool], str]
"""A call id, and whether the very model that is asked made it, to the id that is sent."""

_LONE = re.compile("[\ud800-\udfff]")


def prepare(
    messages: Iterable[Message],
    info: ModelInfo,
    rename: Rename | None = None,
    ids: Ids | None = None,
) -> list[Message]:
    """The messages as they are sent to the model `info`; `ids` are those given out before."""
    ids = Ids(rename) if ids is None else ids
    ready: list[Message] = []
    pending: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, ToolResultMessage):
            call = pending.pop(message.tool_call_id, None)
            if call is not None:
                ready.append(_result(message, info, ids))
            continue
        if isinstance(message, AssistantMessage) and message.failed:
            continue
        ready.extend(_lost(call, ids) for call in pending.values())
        pending = {}
        if isinstance(message, UserMessage):
            ready.append(_user(message, info))
        else:
            pending = {call.id: call for call in message.tool_calls}
            ready.append(_answer(message, info, ids))
    ready.extend(_lost(call, ids) for call in pending.values())
    return sendable_images(ready) if info.images else ready


def sendable(text: str) -> str:
    """The text without lone surrogates, which no provider takes."""
    if text.isascii() or not _LONE.search(text):
        return text
    return _LONE.sub("", join_pairs(text))


def made_by(message: AssistantMessage, info: ModelInfo) -> bool:
    """Whether this very model gave the answer."""
    return (
        message.provider == info.provider and message.api == info.api and message.model == info.id
    )


def plain_id(call_id: str, limit: int = 64) -> str:
    """Letters, digits, _ and - only; what is too long ends in a hash, so that it stays another."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", call_id) or NAMELESS
    if len(plain) <= limit:
        return plain
    return f"{plain[: limit - 9]}_{short_hash(call_id)}"


def short_hash(text: str, length: int = 8) -> str:
    """Letters and digits that stand for a text, always the same ones."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


class Ids:
    """New ids of one request: two calls never get the same one.

    Of an id in two halves, `call|item`, the first is what names the call.
    """

    def __init__(self, rename: Rename | None) -> None:
        self._rename = rename
        self._new: dict[str, str] = {}
        self._taken: set[str] = set()

    def copy(self) -> Ids:
        """The same, to go on with."""
        other = Ids(self._rename)
        other._new, other._taken = dict(self._new), set(self._taken)
        return other

    def call(self, call_id: str, own: bool) -> str:
        """The id that is sent for a call."""
        if self._rename is None:
            return call_id
        if call_id not in self._new:
            new = self._rename(call_id, own)
            if new.partition("|")[0] in self._taken:
                new = self._rename(f"{short_hash(call_id)}_{call_id}", own)
            self._new[call_id] = new
            self._taken.add(new.partition("|")[0])
        return self._new[call_id]

    def result(self, call_id: str) -> str:
        """The id that is sent for the result of a call."""
        return self._new.get(call_id, call_id)


def _answer(message: AssistantMessage, info: ModelInfo, ids: Ids) -> AssistantMessage:
    own = made_by(message, info)
    content = [new for block in _single(message.content) for new in _block(block, own, ids)]
    if len(content) == len(message.content) and all(
        a is b for a, b in zip(content, message.content, strict=True)
    ):
        return message
    return message.model_copy(update={"content": content})


def _single(content: Sequence[Block]) -> Sequence[Block]:
    """Without calls that repeat the id of an earlier one: it has only one result."""
    seen: set[str] = set()
    kept: list[Block] = []
    for block in content:
        if isinstance(block, ToolCall):
            if block.id in seen:
                continue
            seen.add(block.id)
        kept.append(block)
    return kept


def _block(block: Block, own: bool, ids: Ids) -> Sequence[Block]:
    if isinstance(block, Thinking):
        keep = own and (block.thinking.strip() or block.thinking_signature)
        return (block,) if keep else ()
    if isinstance(block, Text):
        if own or block.text_signature is None:
            return (block,)
        return (block.model_copy(update={"text_signature": None}),)
    if isinstance(block, ToolCall):
        new_id = ids.call(block.id, own)
        signature = block.thought_signature if own else None
        if new_id == block.id and signature == block.thought_signature:
            return (block,)
        return (block.model_copy(update={"id": new_id, "thought_signature": signature}),)
    return ()


def _result(message: ToolResultMessage, info: ModelInfo, ids: Ids) -> ToolResultMessage:
    content = _seen(message.content, info, TOOL_IMAGE_OMITTED)
    new_id = ids.result(message.tool_call_id)
    if new_id == message.tool_call_id and content is message.content:
        return message
    return message.model_copy(update={"tool_call_id": new_id, "content": content})


def _lost(call: ToolCall, ids: Ids) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=ids.result(call.id),
        tool_name=call.name,
        content=[Text(text=NO_RESULT)],
        is_error=True,
    )


def _user(message: UserMessage, info: ModelInfo) -> UserMessage:
    content = _seen(message.content, info, IMAGE_OMITTED)
    return (
        message if content is message.content else message.model_copy(update={"content": content})
    )


def _seen(content: Content, info: ModelInfo, note: str) -> Content:
    """The content as the model can see it."""
    return content if info.images else noted(content, note)
