"""Thinking levels that are told inside a conversation, so that a change keeps the prompt's cache.

For models with the switch `supportsMidConvoEffort`: the request itself names one and the same level
for ever; before each answer stands the one it was asked for, at the end the one wanted now. Pure.
Read next: anthropic.py, responses.py (what such a word looks like).
"""

from __future__ import annotations

from singletree.messages import LEVELS, AssistantMessage, ThinkingLevel
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import flag
from singletree.model.thinking import clamp, wished
from singletree.model.transform import made_by


def told_inside(info: ModelInfo, request: ModelRequest) -> bool:
    """Whether this request tells levels between its messages; one without thinking must not."""
    able = info.reasoning and flag(info, "supportsMidConvoEffort")
    return able and wished(info, request.thinking) != "off"


def told_before(
    info: ModelInfo, request: ModelRequest, message: AssistantMessage
) -> ThinkingLevel | None:
    """The level to tell before an answer: it was this model's, and thought."""
    said = message.thinking_level
    if said not in LEVELS or said == "off" or not made_by(message, info):
        return None
    return clamp(said, info.levels) if told_inside(info, request) else None
