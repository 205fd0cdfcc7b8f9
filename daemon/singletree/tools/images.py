"""Pictures by their bytes: type, size in pixels, and whether they are whole.

A provider refuses a damaged or wrongly labelled picture, and every later request with it; so only
what is found whole here is shown. Never trusts a name, never decodes a pixel. Read next:
../imagehead.py (the first bytes), shrink.py (too large ones), read.py (who shows them).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from singletree import imagehead
from singletree.imagehead import PNG, jpeg_frame, look

_BITMAP_HEADERS = (12, 40, 52, 56, 64, 108, 124)
_BITMAP = "image/bmp"


@dataclass(frozen=True, slots=True)
class Picture:
    """A whole picture. `plain`: a type that every provider takes as it is."""

    mime: str
    width: int
    height: int
    plain: bool = True


def picture_type(head: bytes) -> str | None:
    """The type that the first bytes claim, None if they are no picture's."""
    if head[:2] == b"BM" and len(head) >= 18 and _u32(head, 14) in _BITMAP_HEADERS:
        return _BITMAP
    return imagehead.picture_type(head)


def picture(data: bytes) -> Picture | None:
    """What the picture is; None if it is damaged, incomplete or none."""
    if picture_type(data) == _BITMAP:
        return _bmp(data)
    looks = look(data)
    if looks is None or looks.width <= 0 or looks.height <= 0 or not _is_whole(looks.mime, data):
        return None
    return Picture(looks.mime, looks.width, looks.height)


def _is_whole(mime: str, data: bytes) -> bool:
    match mime:
        case "image/png":
            return _whole_png(data)
        case "image/jpeg":
            return data.rfind(b"\xff\xd9") > jpeg_frame(data)
        case "image/gif":
            return _whole_gif(data)
        case _:
            return len(data) > 30 and _u32(data, 4) + 8 <= len(data)


def still(data: bytes) -> bytes:
    """An animated PNG as its first frame, which every reader knows; all else as it is."""
    if not data.startswith(PNG) or b"acTL" not in data[:4096]:
        return data
    kept = bytearray(PNG)
    for kind, start, end in _chunks(data):
        if kind not in (b"acTL", b"fcTL", b"fdAT"):
            kept += data[start:end]
    return bytes(kept)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a PNG as far as it is whole, up to its end mark: kind, start, end."""
    at = len(PNG)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            return
        yield kind, at, end
        if kind == b"IEND":
            return
        at = end


def _whole_png(data: bytes) -> bool:
    """Every chunk's checksum holds and the end is there."""
    chunks = list(_chunks(data))
    holds = all(
        zlib.crc32(data[start + 4 : end - 4]) == int.from_bytes(data[end - 4 : end], "big")
        for _, start, end in chunks
    )
    return holds and bool(chunks) and chunks[-1][0] == b"IEND"


def _whole_gif(data: bytes) -> bool:
    """Behind the colours a block begins, and the last byte ends the file."""
    flags = data[10] if len(data) > 10 else 0
    first = 13 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0)
    return data[first : first + 1] in (b"\x21", b"\x2c") and data.rstrip(b"\x00")[-1:] == b";"


def _bmp(data: bytes) -> Picture | None:
    form = "<HH" if _u32(data, 14) == 12 else "<ii"
    if len(data) < max(_u32(data, 2), 18 + struct.calcsize(form)):
        return None
    width, height = struct.unpack_from(form, data, 18)
    found = Picture(_BITMAP, width, abs(height), plain=False)
    return found if width > 0 and height else None


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
