"""Pictures on their way to a provider: what it would refuse for ever is told in words instead.

A picture that a provider refuses stands in the history and would spoil every later request, so each
is judged by its bytes when it is sent: its true type, its size, its sides. Pure; the messages given
are never changed. Never shrinks: that is done where pictures come in. Read next: transform.py.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Looks:
    """What the first bytes of a picture say. 0 for a side that they do not say."""

    mime: str
    width: int = 0
    height: int = 0


def sendable_images(messages: Sequence[Message]) -> list[Message]:
    """The messages with every picture that can be sent, truly labelled; the rest as notes."""
    count = sum(isinstance(b, Image) for m in messages for b in _blocks(m.content))
    if not count:
        return list(messages)
    side = MAX_SIDE_OF_MANY if count > MANY else MAX_SIDE
    return [_repaired(message, side) for message in messages]


def look(data: bytes) -> Looks | None:
    """Type and sides by the first bytes; None for what is no picture."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Looks("image/png", *_sides(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Looks("image/gif", *_sides("<HH", data, 6))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Looks("image/webp", *_webp(data))
    if data.startswith(b"\xff\xd8\xff"):
        return Looks("image/jpeg", *_jpeg(data))
    return None


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


def _sides(form: str, data: bytes, at: int) -> tuple[int, int]:
    if len(data) < at + struct.calcsize(form):
        return 0, 0
    width, height = struct.unpack_from(form, data, at)
    return int(width), int(height)


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return (
            int.from_bytes(data[24:27], "little") + 1,
            int.from_bytes(data[27:30], "little") + 1,
        )
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = _sides("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0


def _jpeg(data: bytes) -> tuple[int, int]:
    """Walk from marker to marker to the one that begins the frame."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return int(width), int(height)
        elif marker in (0x01, *range(0xD0, 0xD8)):
            at += 2
        else:
            at += 2 + int(struct.unpack_from(">H", data, at + 2)[0])
    return 0, 0
