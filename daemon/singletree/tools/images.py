"""Pictures by their bytes: type, size in pixels, and whether they are whole.

A provider refuses a damaged or wrongly labelled picture, and every later request with it; so only
what is found whole here is shown. Never trusts a name, never decodes a pixel. Read next: shrink.py
(too large ones), read.py (who shows them).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

_PNG = b"\x89PNG\r\n\x1a\n"
_NO_FRAME = (0xC4, 0xC8, 0xCC)
_JPEG_LS = b"\xff\xd8\xff\xf7"
_BITMAP_HEADERS = (12, 40, 52, 56, 64, 108, 124)


@dataclass(frozen=True, slots=True)
class Picture:
    """A whole picture. `plain`: a type that every provider takes as it is."""

    mime: str
    width: int
    height: int
    plain: bool = True


def picture_type(head: bytes) -> str | None:
    """The type that the first bytes claim, None if they are no picture's."""
    if head.startswith(_PNG):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff") and not head.startswith(_JPEG_LS):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and len(head) >= 18 and _u32(head, 14) in _BITMAP_HEADERS:
        return "image/bmp"
    return None


def picture(data: bytes) -> Picture | None:
    """What the picture is; None if it is damaged, incomplete or none."""
    try:
        match picture_type(data):
            case "image/png":
                return _png(data)
            case "image/jpeg":
                return _jpeg(data)
            case "image/gif":
                return _gif(data)
            case "image/webp":
                return _webp(data)
            case "image/bmp":
                return _bmp(data)
            case _:
                return None
    except (IndexError, struct.error):
        return None


def still(data: bytes) -> bytes:
    """An animated PNG as its first frame, which every reader knows; all else as it is."""
    if not data.startswith(_PNG) or b"acTL" not in data[:4096]:
        return data
    kept = bytearray(_PNG)
    for kind, start, end in _chunks(data):
        if kind not in (b"acTL", b"fcTL", b"fdAT"):
            kept += data[start:end]
    return bytes(kept)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a PNG as far as it is whole, up to its end mark: kind, start, end."""
    at = len(_PNG)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            return
        yield kind, at, end
        if kind == b"IEND":
            return
        at = end


def _png(data: bytes) -> Picture | None:
    """Every chunk's checksum holds and the end is there."""
    size, kind = (0, 0), b""
    for kind, start, end in _chunks(data):
        if zlib.crc32(data[start + 4 : end - 4]) != _u32_big(data, end - 4):
            return None
        if kind == b"IHDR":
            size = _u32_big(data, start + 8), _u32_big(data, start + 12)
    return _sized("image/png", *size, whole=kind == b"IEND")


def _jpeg(data: bytes) -> Picture | None:
    """The segments lead to a frame and the end of the image is there."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            whole = data.rfind(b"\xff\xd9") > at
            return _sized("image/jpeg", width, height) if whole else None
        at += 2 + length
    return None


def _gif(data: bytes) -> Picture | None:
    """Behind the colours a block begins, and the last byte ends the file."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    first = 13 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0)
    if data[first] not in (0x21, 0x2C) or data.rstrip(b"\x00")[-1] != 0x3B:
        return None
    return _sized("image/gif", width, height)


def _webp(data: bytes) -> Picture | None:
    if _u32(data, 4) + 8 > len(data):
        return None
    match data[12:16]:
        case b"VP8 ":
            if data[23:26] != b"\x9d\x01\x2a":
                return None
            width, height = struct.unpack_from("<HH", data, 26)
            return _sized("image/webp", width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            bits = _u32(data, 21)
            whole = data[20] == 0x2F
            return _sized("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, whole=whole)
        case b"VP8X":
            width = int.from_bytes(data[24:27], "little") + 1
            height = int.from_bytes(data[27:30], "little") + 1
            return _sized("image/webp", width, height, whole=len(data) > 30)
        case _:
            return None


def _bmp(data: bytes) -> Picture | None:
    if _u32(data, 14) == 12:
        width, height = struct.unpack_from("<HH", data, 18)
    else:
        width, height = struct.unpack_from("<ii", data, 18)
    return _sized("image/bmp", width, abs(height), plain=False, whole=_u32(data, 2) <= len(data))


def _sized(
    mime: str, width: int, height: int, *, plain: bool = True, whole: bool = True
) -> Picture | None:
    return Picture(mime, width, height, plain) if whole and width > 0 and height > 0 else None


def _u32_big(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def _u32(data: bytes, at: int) -> int:
    (value,) = struct.unpack_from("<I", data, at)
    return int(value)
