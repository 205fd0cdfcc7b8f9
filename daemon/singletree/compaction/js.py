"""JSON as JavaScript writes it: compact, numbers in their shortest JavaScript form.

Sizes in tokens and flattened calls are measured on this form, so that figures agree with those in
session files written by pi. Pure; never parses. Read next: budget.py.
"""

from __future__ import annotations

import json
from decimal import Decimal

from pydantic import JsonValue

_encode = json.JSONEncoder(ensure_ascii=False).encode


def stringify(value: JsonValue) -> str:
    """`JSON.stringify(value)`."""
    if isinstance(value, str):
        return quote(value)
    match value:
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return number(value)
        case list():
            return f"[{','.join(stringify(item) for item in value)}]"
        case dict():
            return "{" + ",".join(f"{quote(k)}:{stringify(v)}" for k, v in value.items()) + "}"


def quote(text: str) -> str:
    """A JSON string; lone surrogates are escaped, all else above ASCII stands as it is."""
    quoted = _encode(text)
    if text.isascii() or quoted.isprintable():
        return quoted
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted)


def number(value: int | float) -> str:
    """A number as JavaScript prints it: 1.0 as 1, 1e16 in full, 1e21 and 1e-7 with an exponent."""
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    value = float(value)
    if value != value or value in (float("inf"), float("-inf")):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits))
    point = len(figures) + exponent
    return ("-" if sign else "") + _placed(figures, point)


def _placed(figures: str, point: int) -> str:
    """The figures with the decimal point after `point` of them."""
    if -6 < point <= 0:
        return "0." + "0" * -point + figures
    if 0 < point <= 21:
        whole = figures.ljust(point, "0")
        return whole[:point] + (f".{whole[point:]}" if len(whole) > point else "")
    rest = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{figures[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
