"""Tokens and money: what an answer cost, how full the window is, totals of a session."""

from __future__ import annotations

from pydantic import Field

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape


class Cost(Shape):
    """US dollars."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total: float = 0
    total_from_provider: float | None = None


class Usage(Shape):
    """Tokens as the provider counted them. `input` excludes cached ones."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int | None = Field(default=None, alias="cacheWrite1h")
    reasoning: int | None = None
    total_tokens: int = 0
    cost: Cost


class ContextUsage(Shape):
    """How full the window is. `tokens` null: nobody knows, as right after a compaction."""

    tokens: int | None
    window: int
    percent: float | None


class ModelUsage(Shape):
    """What one model took; `model` is `provider/id`, or `summaries` for all summaries together."""

    model: str
    answers: int
    usage: Usage


class UsageResult(Result):
    """Totals over all branches of the session, failed answers and summaries included."""

    context_usage: ContextUsage
    total: Usage
    models: list[ModelUsage]


METHODS = (
    Method(
        "agent/usage/get",
        SessionParams,
        UsageResult,
        "Tokens by kind and cost over the whole session, all branches, per model; and how full "
        "the window is now.",
        errors=("session_not_found",),
    ),
)
