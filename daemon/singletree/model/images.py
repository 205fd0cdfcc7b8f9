"""Pictures on their way to a provider: what it would refuse for ever is told in words instead.

A picture that a provider refuses stands in the history and would spoil every later request, so each
is judged by its bytes when it is sent: its true type, its size, its sides. Pure; the messages given
are never changed. Never shrinks: that is done where pictures come in. Read next:
../imagehead.py (what bytes say), transform.py.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from singletree.imagehead import Looks, look
from singletree.messages import (
    AssistantMessage,
    Block,
    Content,
    Image,
    Message,
    Text,
    ToolResultMessage,
    UserMessage,
)

MAX_BASE64 = 5 * 1024 * 1024
MAX_SIDE = 8000
MANY = 20
MAX_SIDE_OF_MANY = 2000
"""Sides allowed when a request holds more than `MANY` pictures."""
OMITTED = "[An image was left out: {why}.]"
NO_IMAGE = "its bytes are no PNG, JPEG, GIF or WebP"
TOO_LARGE = "it has {size:.1f} MB, and {limit:.0f} MB are allowed"
TOO_WIDE = "it has {width}x{height} pixels, and {side} a side are allowed"

_HEAD = 4 * 3 * 16_384
_WHOLE = 4 * 3 * 87_382


def sendable_images(messages: Sequence[Message]) -> list[Message]:
    """The messages with every picture that can be sent, truly labelled; the rest as notes."""
    count = sum(isinstance(b, Image) for m in messages for b in _blocks(m.content))
    if not count:
        return list(messages)
    side = MAX_SIDE_OF_MANY if count > MANY else MAX_SIDE
    return [_repaired(message, side) for message in messages]


def noted(content: Content, note: str) -> Content:
    """The content with one note for each row of pictures; as it is where there are none."""
    if isinstance(content, str) or not any(isinstance(block, Image) for block in content):
        return content
    seen: list[Block] = []
    for block in content:
        if not isinstance(block, Image):
            seen.append(block)
        elif not (seen and isinstance(seen[-1], Text) and seen[-1].text == note):
            seen.append(Text(text=note))
    return seen


def _blocks(content: Content) -> Sequence[Block]:
    return () if isinstance(content, str) else content


def _repaired(message: Message, side: int) -> Message:
    if isinstance(message, AssistantMessage) or isinstance(message.content, str):
        return message
    content = [_fit(b, side) if isinstance(b, Image) else b for b in message.content]
    if all(a is b for a, b in zip(content, message.content, strict=True)):
        return message
    return _with(message, content)


def _with(message: UserMessage | ToolResultMessage, content: list[Block]) -> Message:
    return message.model_copy(update={"content": content})


def _fit(image: Image, side: int) -> Image | Text:
    looks = _looks(image.data)
    if looks is None:
        return Text(text=OMITTED.format(why=NO_IMAGE))
    if len(image.data) > MAX_BASE64:
        size, limit = len(image.data) / 1024 / 1024, MAX_BASE64 / 1024 / 1024
        return Text(text=OMITTED.format(why=TOO_LARGE.format(size=size, limit=limit)))
    if max(looks.width, looks.height) > side:
        why = TOO_WIDE.format(width=looks.width, height=looks.height, side=side)
        return Text(text=OMITTED.format(why=why))
    if looks.mime != image.mime_type:
        return image.model_copy(update={"mime_type": looks.mime})
    return image


def _looks(text: str) -> Looks | None:
    """By the head of the base64; a JPEG's sides may stand far behind its thumbnail."""
    for length in (_HEAD, _WHOLE):
        head = text[:length]
        try:
            looks = look(base64.b64decode(head[: len(head) // 4 * 4], validate=True))
        except (binascii.Error, ValueError):
            return None
        if looks is None or looks.width or len(text) <= length:
            return looks
    return looks
