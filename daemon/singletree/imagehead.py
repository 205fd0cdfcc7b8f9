"""What the first bytes of a picture say: its type, and its size in pixels.

The four types that every provider takes. Pure; never trusts a name, never looks whether the rest is
whole. Read next: tools/images.py (who does), model/images.py (what is sent).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_LS = b"\xff\xd8\xff\xf7"
_NO_FRAME = (0xC4, 0xC8, 0xCC)
_BARE = (0x01, *range(0xD0, 0xD8))
"""Markers of a JPEG with nothing behind them."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What the first bytes of a picture say. 0 for a side that they do not say."""

    mime: str
    width: int = 0
    height: int = 0


def look(data: bytes) -> Looks | None:
    """Type and sides by the first bytes; None for what is no picture."""
    match picture_type(data):
        case "image/png" as mime:
            return Looks(mime, *(_sides(">II", data, 16) if data[12:16] == b"IHDR" else (0, 0)))
        case "image/gif" as mime:
            return Looks(mime, *_sides("<HH", data, 6))
        case "image/webp" as mime:
            return Looks(mime, *_webp(data))
        case "image/jpeg" as mime:
            at = jpeg_frame(data)
            height, width = _sides(">HH", data, at + 5) if at else (0, 0)
            return Looks(mime, width, height)
        case _:
            return None


def picture_type(data: bytes) -> str | None:
    """The type that the first bytes claim."""
    if data.startswith(PNG):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff") and not data.startswith(_JPEG_LS):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def jpeg_frame(data: bytes) -> int:
    """Where a JPEG's frame begins, from marker to marker; 0 if that is not among the bytes."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            return at
        if marker == 0xFF:
            at += 1
        elif marker in _BARE:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0


def _sides(form: str, data: bytes, at: int) -> tuple[int, int]:
    if len(data) < at + struct.calcsize(form):
        return 0, 0
    width, height = struct.unpack_from(form, data, at)
    return int(width), int(height)


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width = int.from_bytes(data[24:27], "little") + 1
        return width, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = _sides("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
