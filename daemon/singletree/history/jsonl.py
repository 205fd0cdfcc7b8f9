"""One line of a JSON-lines file <-> one JSON object, whatever a file or a model throws at it.

Only LF ends a line. What JSON or UTF-8 cannot carry is replaced on the way out and refused or
replaced on the way in; what is nested too deeply is as wrong as what is broken. Never knows what an
object means. Read next: entries.py (what it means).
"""

from __future__ import annotations

import json
from math import isfinite

from pydantic import JsonValue

from singletree.jsontext import is_deep
from singletree.messages import well_formed

Json = dict[str, JsonValue]

DEPTH = 240
"""Levels of objects and lists in a line; pydantic goes through a few more, and no further."""


def encode(data: Json) -> bytes:
    """The line of a JSON object, keys in the order they have."""
    try:
        return _compact(data).encode() + b"\n"
    except ValueError:
        return _compact(_cleaned(data)).encode() + b"\n"


def decode(line: bytes) -> Json | None:
    """The JSON object of a line; None where it is blank, broken, or holds anything else."""
    try:
        value = json.loads(line.decode(), parse_constant=_refuse, parse_float=_finite)
        if not isinstance(value, dict):
            return None
        if line.count(b"[") + line.count(b"{") > DEPTH and is_deep(value, DEPTH):
            return None
        return _cleaned_object(value) if b"\\ud" in line or b"\\uD" in line else value
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float | None:
    """The number, unless it is too large for one: 1e999 is JSON, and infinity to Python."""
    number = float(text)
    return number if isfinite(number) else None


def _compact(data: JsonValue) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _cleaned(value: JsonValue) -> JsonValue:
    """The same with lone surrogates replaced and NaN and infinities as null."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return _cleaned_object(value) if isinstance(value, dict) else value


def _cleaned_object(value: Json) -> Json:
    return {well_formed(key): _cleaned(item) for key, item in value.items()}
