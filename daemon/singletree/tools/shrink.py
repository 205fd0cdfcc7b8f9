"""Pictures made small enough for a provider, where Pillow is installed (the extra `images`).

Without Pillow there is no shrinking, and read.py says so instead of showing the picture. Never
knows a file. Read next: images.py (what a picture is), read.py (who needs it smaller).
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from singletree.tools.images import Picture, picture

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 2000
"""Pixels. Requests with many larger pictures are refused."""

MAX_ENCODED = 4_718_592
"""Bytes of base64."""

_MAX_PIXELS = 80_000_000
_QUALITIES = (85, 70, 55, 40)
_STEP = 0.75
_MIN_SIDE = 64

Shrink = Callable[[bytes, Picture], "Shrunk | None"]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A picture that fits."""

    data: bytes
    mime: str
    width: int
    height: int


def fits(data: bytes, found: Picture) -> bool:
    """Whether the picture may be sent as it is."""
    small = max(found.width, found.height) <= MAX_SIDE
    return found.plain and small and _encoded(data) <= MAX_ENCODED


def pillow() -> Shrink | None:
    """The shrinking that this machine has: None without Pillow."""
    return shrink if find_spec("PIL") is not None else None


def allowed(asked: Callable[[], bool]) -> Shrink:
    """Pillow's shrinking, if it is there and allowed at that moment."""

    def shrinking(data: bytes, found: Picture) -> Shrunk | None:
        able = pillow() if asked() else None
        return able(data, found) if able else None

    return shrinking


def shrink(data: bytes, found: Picture) -> Shrunk | None:
    """The first frame, at most 2000 pixels a side; None if it cannot be decoded or made to fit."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if found.width * found.height > _MAX_PIXELS:
        return None
    try:
        with Image.open(io.BytesIO(data)) as source:
            image = ImageOps.exif_transpose(source)
            image = image.convert("RGBA" if _transparent(image) else "RGB")
    except (OSError, ValueError, SyntaxError, EOFError, UnidentifiedImageError):
        return None
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    while min(image.size) >= 1:
        for form in _forms(image, found.mime):
            if _encoded(form) <= MAX_ENCODED and (made := picture(form)) is not None:
                return Shrunk(form, made.mime, made.width, made.height)
        if max(image.size) < _MIN_SIDE:
            return None
        width, height = (max(1, int(side * _STEP)) for side in image.size)
        image = image.resize((width, height))
    return None


def _forms(image: Image, mime: str) -> list[bytes]:
    """The same picture as PNG unless it was a photograph, then as JPEG, worse and worse."""
    forms = [] if mime == "image/jpeg" else [_saved(image, "PNG")]
    if forms and _encoded(forms[0]) <= MAX_ENCODED:
        return forms
    flat = image.convert("RGB")
    return forms + [_saved(flat, "JPEG", quality) for quality in _QUALITIES]


def _saved(image: Image, form: str, quality: int = 0) -> bytes:
    out = io.BytesIO()
    if quality:
        image.save(out, form, quality=quality)
    else:
        image.save(out, form)
    return out.getvalue()


def _transparent(image: Image) -> bool:
    return "A" in image.getbands() or "transparency" in image.info


def _encoded(data: bytes) -> int:
    return (len(data) + 2) // 3 * 4
