"""Pictures made for tests, whole ones and damaged ones."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image


def png(width: int, height: int, extra: tuple[tuple[bytes, bytes], ...] = ()) -> bytes:
    """A black PNG without Pillow; `extra` chunks come before the pixels."""
    rows = zlib.compress(b"\0" * ((1 + 3 * width) * height), 1)
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", size), *extra, (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in chunks)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def drawn(form: str, width: int, height: int, mode: str = "RGB") -> bytes:
    """A plain picture in a form that Pillow writes."""
    out = io.BytesIO()
    Image.new(mode, (width, height)).save(out, form)
    return out.getvalue()


def noise(form: str, width: int, height: int) -> bytes:
    """A picture that does not compress."""
    out = io.BytesIO()
    Image.effect_noise((width, height), 120).convert("RGB").save(out, form)
    return out.getvalue()
