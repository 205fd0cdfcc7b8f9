"""How large a request is, roughly, and how much room is left for the answer.

Pure. Read next: form.py, memo.py (who ask).
"""

from __future__ import annotations

import math

from singletree.messages import Content, Image, Text, Thinking, ToolCall, utf16_units
from singletree.model.base import ModelInfo, ModelRequest

_MARGIN = 0.15
_LEAST = 256
_IMAGE_UNITS = 4800


def output_limit(info: ModelInfo, request: ModelRequest, tokens: int) -> int:
    """Tokens the answer may have: what was asked for, but no more than fits behind the request.

    `tokens` is the request's estimated size; 15 % more are left free, so that a small window is not
    refused for an output limit it could never fill.
    """
    wanted = min(request.max_tokens or info.max_output, info.max_output)
    if info.context_window <= 0:
        return wanted
    room = info.context_window - math.ceil(tokens * (1 + _MARGIN)) - _LEAST
    return min(wanted, max(room, _LEAST))


def request_tokens(request: ModelRequest) -> int:
    """A rough size of a request in tokens."""
    messages = sum(content_units(message.content) for message in request.messages)
    return tokens_of(frame_units(request) + messages)


def tokens_of(units: int) -> int:
    """Characters as tokens: 4 each."""
    return math.ceil(units / 4)


def frame_units(request: ModelRequest) -> int:
    """Characters of what a request carries besides its messages."""
    units = utf16_units(request.system)
    for tool in request.tools:
        units += len(tool.name) + len(tool.description) + len(str(tool.schema))
    return units


def content_units(content: Content) -> int:
    """Characters of a content, as token estimates count them."""
    if isinstance(content, str):
        return utf16_units(content)
    units = 0
    for block in content:
        if isinstance(block, Text):
            units += utf16_units(block.text)
        elif isinstance(block, Thinking):
            units += utf16_units(block.thinking)
        elif isinstance(block, ToolCall):
            units += len(block.name) + len(str(block.arguments))
        elif isinstance(block, Image):
            units += _IMAGE_UNITS
    return units
