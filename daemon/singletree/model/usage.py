"""Tokens and dollars of an answer, from what a provider counted and the model's prices.

Pure. Input never contains what came from a cache; reasoning is part of output. Read next:
openai_stream.py, anthropic_stream.py, responses_stream.py (who count).
"""

from __future__ import annotations

from pydantic import JsonValue

from singletree.jsontext import Json, object_in
from singletree.messages import Cost, Usage
from singletree.model.base import Price, PriceTier

_MILLION = 1_000_000
_MOST = 2**53 - 1
_RATES = ("input", "output", "cacheRead", "cacheWrite")
_HOUR_WRITE = 2
"""Keeping something cached for an hour costs this many times the input price."""


def count(value: JsonValue) -> int:
    """A token count as a provider gives it: anything that is no number counts nothing."""
    return max(0, int(_number(value) or 0))


def dollars(value: JsonValue) -> float | None:
    """A bill as a provider gives it; None for anything that is no amount."""
    number = _number(value)
    return None if number is None else max(0.0, float(number))


def price_of(value: JsonValue) -> Price:
    """Prices as models.json has them: four rates, and others for long requests."""
    cost = object_in(value)
    given = cost.get("tiers")
    tiers = [tier for tier in given if isinstance(tier, dict)] if isinstance(given, list) else []
    return Price(
        *_rates(cost),
        tuple(PriceTier(count(tier.get("inputTokensAbove")), *_rates(tier)) for tier in tiers),
    )


def _rates(cost: Json) -> tuple[float, float, float, float]:
    rates = [dollars(cost.get(name)) or 0.0 for name in _RATES]
    return rates[0], rates[1], rates[2], rates[3]


def _number(value: JsonValue) -> int | float | None:
    """A number that can be reckoned with; JSON has others."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_MOST <= value <= _MOST else None


def priced(
    price: Price,
    *,
    input: int,
    output: int,
    cache_read: int = 0,
    cache_write: int = 0,
    cache_write_1h: int | None = None,
    reasoning: int | None = None,
    total: int = 0,
    billed: float | None = None,
) -> Usage:
    """The usage with its cost; totals that the provider itself names win (`billed`: dollars)."""
    hour = min(cache_write_1h or 0, cache_write)
    rate = _rate(price, input + cache_read + cache_write)
    parts = (
        input * rate.input / _MILLION,
        output * rate.output / _MILLION,
        cache_read * rate.cache_read / _MILLION,
        ((cache_write - hour) * rate.cache_write + hour * rate.input * _HOUR_WRITE) / _MILLION,
    )
    return Usage(
        input=input,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
        cache_write_1h=cache_write_1h,
        reasoning=reasoning,
        total_tokens=total or input + output + cache_read + cache_write,
        cost=Cost(
            input=parts[0],
            output=parts[1],
            cache_read=parts[2],
            cache_write=parts[3],
            total=sum(parts) if billed is None else billed,
            total_from_provider=billed,
        ),
    )


def _rate(price: Price, tokens: int) -> Price | PriceTier:
    reached = [tier for tier in price.tiers if tokens > tier.above]
    return max(reached, key=lambda tier: tier.above) if reached else price
