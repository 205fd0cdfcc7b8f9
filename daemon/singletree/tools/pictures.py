"""A picture file as a tool's output: the picture, a smaller one, or a note why there is none.

Too large, damaged or odd pictures never get into the conversation: the provider would refuse this
and every later request. Never opens a file. Read next: images.py (what is whole), shrink.py.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

from singletree.agent.tool import ToolOutput
from singletree.messages import Image, Text
from singletree.tools.images import picture, picture_type, still
from singletree.tools.shrink import MAX_SIDE, Shrink, fits
from singletree.tools.truncate import format_size

PICTURE = "[{path}: {mime}, {width}x{height} pixels, {size}]"
SMALLER = (
    "[{path}: {mime}, {width}x{height} pixels, {size}. It is shown as {new} at {small_width}x"
    "{small_height}: multiply coordinates by {factor}.]"
)
CONVERTED = "[{path}: {mime}, {width}x{height} pixels, {size}. It is shown as {new}.]"
TOO_LARGE = (
    "[{path}: {mime}, {width}x{height} pixels, {size}. It is not shown: it is too large, or of a"
    f" kind that models do not take. Make a PNG or JPEG of at most {MAX_SIDE}x{MAX_SIDE} pixels and"
    " read that.]"
)
DAMAGED = "[{path}: {mime}, {size}. It is not shown: the picture is damaged or incomplete.]"

NO_PICTURE = "[{path}: {size}. It is not shown: its bytes are no PNG, JPEG, GIF or WebP.]"

MAX_PICTURE = 64 * 1024 * 1024
"""Bytes of a picture that are looked at at all."""


def show_picture(name: str, data: bytes, size: int, shrink: Shrink | None) -> ToolOutput:
    """The output for a file that begins like a picture. `name` is how the text calls it."""
    data = still(data)
    found = picture(data)
    if found is None:
        mime = picture_type(data)
        form = NO_PICTURE if mime is None else DAMAGED
        return _note(form, {"path": name, "mime": mime, "size": format_size(size)})
    about: dict[str, object] = {
        "path": name,
        "mime": found.mime,
        "width": found.width,
        "height": found.height,
        "size": format_size(size),
    }
    if fits(data, found):
        return _shown(PICTURE, about, data, found.mime)
    small = shrink(data, found) if shrink else None
    if small is None:
        return _note(TOO_LARGE, about)
    about |= {"new": small.mime, "small_width": small.width, "small_height": small.height}
    about |= {"factor": f"{found.width / small.width:.2f}"}
    scaled = (small.width, small.height) != (found.width, found.height)
    return _shown(SMALLER if scaled else CONVERTED, about, small.data, small.mime)


def _note(form: str, about: Mapping[str, object]) -> ToolOutput:
    return ToolOutput.text(form.format(**about))


def _shown(form: str, about: Mapping[str, object], data: bytes, mime: str) -> ToolOutput:
    encoded = base64.b64encode(data).decode("ascii")
    return ToolOutput((Text(text=form.format(**about)), Image(data=encoded, mime_type=mime)))
