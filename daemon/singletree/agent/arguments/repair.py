"""Puts small mistakes of models right: "42" for 42, one thing for a list of one, null for nothing.

Only what can mean one thing is changed, only where the value does not fit as it is, and never the
given value itself. Pure. Read next: schema.py (what fits), ../tool.py (who asks).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from pydantic import JsonValue

from singletree.agent.arguments.rules import is_type, same
from singletree.agent.arguments.schema import DEPTH, Checker, Schema, item_schema, types_of
from singletree.jsontext import decoded

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_PREFIXED = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")
_MISSING = object()


def repaired(schema: Schema, value: JsonValue) -> JsonValue:
    """The value as it was meant, as far as that is plain; otherwise as it is."""
    return _Repairer(schema).repair(schema, value, 0)


class _Repairer:
    def __init__(self, root: Schema) -> None:
        self._checker = Checker(root)

    def repair(self, schema: Schema, value: JsonValue, depth: int) -> JsonValue:
        if not isinstance(schema, dict) or depth > DEPTH:
            return value
        if self._checker.fits(schema, value, depth):
            return value
        if "$ref" in schema:
            value = self.repair(self._checker.resolve(schema["$ref"]), value, depth + 1)
        value = self._combined(schema, value, depth + 1)
        value = _as_option(schema, value)
        value = _as_type(schema, value)
        if isinstance(value, dict):
            return self._object(schema, value, depth + 1)
        if isinstance(value, list):
            return [
                self.repair(item_schema(schema, n), inner, depth + 1)
                for n, inner in enumerate(value)
            ]
        return value

    def _combined(self, schema: Mapping[str, JsonValue], value: JsonValue, depth: int) -> JsonValue:
        """Every part of allOf; of anyOf and oneOf the first that the value can be made to fit."""
        for part in _list(schema.get("allOf")):
            value = self.repair(part, value, depth)
        for keyword in ("anyOf", "oneOf"):
            parts = _list(schema.get(keyword))
            if any(self._checker.fits(part, value, depth) for part in parts):
                continue
            for part in parts:
                changed = self.repair(part, value, depth)
                if self._checker.fits(part, changed, depth):
                    value = changed
                    break
        return value

    def _object(
        self, schema: Mapping[str, JsonValue], value: Mapping[str, JsonValue], depth: int
    ) -> dict[str, JsonValue]:
        required = _list(schema.get("required"))
        whole: dict[str, JsonValue] = {}
        for name, inner in value.items():
            parts = self._checker.parts_of(schema, name)
            unfit = any(not self._checker.fits(part, inner, depth) for part in parts)
            if inner is None and unfit and name not in required:
                continue
            for part in parts:
                inner = self.repair(part, inner, depth)
            whole[name] = inner
        return whole


def _as_option(schema: Mapping[str, JsonValue], value: JsonValue) -> JsonValue:
    """The allowed value that a text, a number or a yes or no stands for."""
    options = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
    if any(same(value, option) for option in options):
        return value
    return next((option for option in options if _stands_for(value, option)), value)


def _stands_for(value: JsonValue, option: JsonValue) -> bool:
    match value, option:
        case str(), bool():
            return value.strip().lower() == str(option).lower()
        case str(), int() | float():
            return _decimal(value) == option
        case int() | float(), str():
            return _as_text(value) == option
        case _:
            return False


def _as_type(schema: Mapping[str, JsonValue], value: JsonValue) -> JsonValue:
    """The value as the first of the types that it can be read as."""
    types = types_of(schema)
    if not types or any(is_type(value, name) for name in types):
        return value
    if value == "" and "null" in types:
        return None
    for name in types:
        read = _read_as(name, value)
        if read is not _MISSING:
            assert read is None or isinstance(read, bool | int | float | str | list | dict)
            return read
    return value


def _read_as(name: JsonValue, value: JsonValue) -> object:
    match name:
        case "number":
            return _as_number(value)
        case "integer":
            number = _number(value) if isinstance(value, str) else None
            return _MISSING if number is None or not is_type(number, "integer") else number
        case "boolean":
            return _as_boolean(value)
        case "string":
            return _as_text(value)
        case "array":
            return _as_list(value)
        case "object":
            parsed = _parsed(value, "{")
            return parsed if isinstance(parsed, dict) else _MISSING
        case _:
            return _MISSING


def _as_number(value: JsonValue) -> object:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return _MISSING
    text = value.strip()
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    if not text:
        return 0
    number = _number(text)
    return _MISSING if number is None else number


def _number(text: str) -> int | float | None:
    text = text.strip()
    return int(text, 0) if _PREFIXED.fullmatch(text) else _decimal(text)


def _decimal(text: str) -> int | float | None:
    text = text.strip()
    if not _DECIMAL.fullmatch(text) or len(text) > 400:
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    if not number.is_integer():
        return number
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else int(number)


def _as_boolean(value: JsonValue) -> object:
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else _MISSING
    if isinstance(value, str):
        return {"true": True, "false": False, "1": True, "0": False}.get(
            value.strip().lower(), _MISSING
        )
    return _MISSING


def _as_text(value: JsonValue) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return _MISSING


def _as_list(value: JsonValue) -> object:
    if value is None:
        return _MISSING
    parsed = _parsed(value, "[")
    return parsed if isinstance(parsed, list) else [value]


def _parsed(value: JsonValue, opening: str) -> JsonValue:
    """What a text says that is itself JSON; None if it is none."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return None
    try:
        parsed = decoded(value)
    except ValueError:
        return None
    return parsed


def number_text(value: int | float) -> str:
    """A number as JavaScript writes it, since models learned it so."""
    if abs(value) < 1e21 and (isinstance(value, int) or value.is_integer()):
        return str(int(value))
    text = repr(float(value))
    if "e" not in text:
        return text
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(text), "f")
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].lstrip('0')}"


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
