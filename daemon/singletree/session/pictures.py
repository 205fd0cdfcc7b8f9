"""Pictures of a person's message, made so before it is stored that no provider refuses them later.

The type is the one the bytes say. What is too large is scaled down where Pillow is installed and
settings allow it; what no provider takes becomes a note. Never knows a model. Read next:
../tools/pictures.py (the same for files that are read), ../model/images.py (what old sessions
hold is repaired when it is sent).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import anyio.to_thread

from singletree.messages import AssistantMessage, Image, Message, Text
from singletree.model.images import MAX_BASE64, MAX_SIDE, noted
from singletree.tools.images import Picture, picture, still
from singletree.tools.pictures import show_picture
from singletree.tools.shrink import Shrink, fits, pillow

NAME = "the attached picture"
BLOCKED = "[A picture was here; the settings keep pictures from models.]"

Blocks = Sequence[Text | Image]


async def fitted(said: Blocks, *, resize: bool) -> Blocks:
    """The message with pictures that can be sent, and notes for those that cannot."""
    if not any(isinstance(block, Image) for block in said):
        return said
    return await anyio.to_thread.run_sync(_all_fitted, said, pillow() if resize else None)


def without_pictures(messages: Sequence[Message]) -> list[Message]:
    """The messages with a note in the place of every row of pictures."""
    return [_blocked(message) for message in messages]


def _all_fitted(said: Blocks, shrink: Shrink | None) -> Blocks:
    found: list[Text | Image] = []
    for block in said:
        found += _fitted(block, shrink) if isinstance(block, Image) else [block]
    return found


def _fitted(image: Image, shrink: Shrink | None) -> Sequence[Text | Image]:
    data = still(base64.b64decode(image.data))
    found = picture(data)
    if found is None or not (fits(data, found) or (shrink is None and _taken(image, found))):
        return show_picture(NAME, data, len(data), shrink).content
    return [Image(data=base64.b64encode(data).decode("ascii"), mime_type=found.mime)]


def _taken(image: Image, found: Picture) -> bool:
    """Whether providers take it, though smaller is better."""
    small = max(found.width, found.height) <= MAX_SIDE
    return found.plain and small and len(image.data) <= MAX_BASE64


def _blocked(message: Message) -> Message:
    if isinstance(message, AssistantMessage):
        return message
    content = noted(message.content, BLOCKED)
    return message.model_copy(update={"content": content})
