"""Thinking levels: which a model has, the nearest one to a wish, and what each is called outside.

Pure. A model's `compat["thinkingLevelMap"]` names levels its own way; null takes one away. Read
next: anthropic.py, openai.py, responses.py (how a level is asked for).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from singletree.messages import LEVELS, ThinkingLevel
from singletree.model.base import ModelInfo, ModelRequest

_ONLY_IF_NAMED = ("xhigh", "max")
BUDGETS: Mapping[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 16384,
    "max": 16384,
}
"""Tokens to think with, where a provider wants a number."""
LEAST_ANSWER = 1024
"""Tokens always left for the answer itself."""


def levels_of(reasoning: bool, names: Mapping[str, JsonValue]) -> tuple[ThinkingLevel, ...]:
    """The levels a model has: off alone if it cannot think, or if none is left."""
    if not reasoning:
        return ("off",)
    levels = tuple(
        level
        for level in LEVELS
        if (names[level] is not None if level in names else level not in _ONLY_IF_NAMED)
    )
    return levels or ("off",)


def clamp(level: str, levels: Sequence[ThinkingLevel]) -> ThinkingLevel:
    """The level itself, else the next higher one there is, else the next lower one."""
    if not levels:
        return "off"
    if level not in LEVELS:
        return levels[0]
    wish = next(known for known in LEVELS if known == level)
    if wish in levels:
        return wish
    rank = LEVELS.index(wish)
    higher = [known for known in LEVELS[rank:] if known in levels]
    return higher[0] if higher else [known for known in LEVELS[:rank] if known in levels][-1]


def wished(info: ModelInfo, level: ThinkingLevel) -> ThinkingLevel:
    """The level to ask for: off stays off, the rest is clamped to what the model has."""
    return level if level == "off" else clamp(level, info.levels)


def asked(info: ModelInfo, level: str) -> ThinkingLevel:
    """The level that is asked for in the end: of one that always thinks, its least."""
    wish: ThinkingLevel = "off" if level == "off" else clamp(level, info.levels)
    return wish if wish in info.levels else info.levels[0]


def level_names(info: ModelInfo) -> Mapping[str, JsonValue]:
    """What the model calls its levels, where it says so."""
    names = info.compat.get("thinkingLevelMap")
    return names if isinstance(names, dict) else {}


def effort(info: ModelInfo, level: ThinkingLevel) -> str:
    """The provider's word for a level."""
    name = level_names(info).get(level)
    return name if isinstance(name, str) else level


def budget(info: ModelInfo, level: ThinkingLevel, limit: int) -> int:
    """Tokens to think with at a level; of `limit`, the answer keeps its least."""
    return max(min(_wanted(info, level), limit - LEAST_ANSWER), 0)


def widened(info: ModelInfo, request: ModelRequest, level: ThinkingLevel, limit: int) -> int:
    """A limit that was asked for is meant for the answer: thoughts get room of their own."""
    if request.max_tokens is None:
        return limit
    return min(limit + _wanted(info, level), max(info.max_output, limit))


def _wanted(info: ModelInfo, level: ThinkingLevel) -> int:
    own = info.compat.get("thinkingBudgets")
    given = own.get(level) if isinstance(own, dict) else None
    return given if isinstance(given, int) and given > 0 else BUDGETS.get(level, 0)
