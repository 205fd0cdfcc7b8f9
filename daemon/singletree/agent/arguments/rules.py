"""The rules of JSON Schema that look at one value as a whole: its type, its size, its form.

Pure; knows no schema. Read next: schema.py (which reads schemas), formats.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from pydantic import JsonValue

from singletree.agent.arguments.formats import has_format
from singletree.agent.arguments.patterns import compiled


def same(a: JsonValue, b: JsonValue) -> bool:
    """Equality of JSON: true is not 1, 1.0 is 1."""
    return identity(a) == identity(b)


def identity(value: JsonValue) -> Hashable:
    """What two values have in common that are the same."""
    match value:
        case bool():
            return bool, value  # no JSON is like it
        case list():
            return tuple(map(identity, value))
        case dict():
            return frozenset((key, identity(inner)) for key, inner in value.items())
        case _:
            return value


def is_type(value: JsonValue, name: JsonValue) -> bool:
    """Whether a value is of a type of JSON Schema; names it does not have fit everything."""
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return _is_number(value) and (isinstance(value, int) or _is_whole(value))
        case "number":
            return _is_number(value)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


def _sized(
    kind: type[str] | type[list[JsonValue]] | type[dict[str, JsonValue]], more: bool
) -> Callable[[JsonValue, JsonValue], bool]:
    def broken(value: JsonValue, limit: JsonValue) -> bool:
        if not isinstance(value, kind) or not isinstance(limit, int | float):
            return False
        return len(value) > limit if more else len(value) < limit

    return broken


def _compared(
    compare: Callable[[float, float], bool],
) -> Callable[[JsonValue, JsonValue], bool]:
    def broken(value: JsonValue, limit: JsonValue) -> bool:
        if isinstance(value, bool) or isinstance(limit, bool):
            return False
        if not isinstance(value, int | float) or not isinstance(limit, int | float):
            return False
        return compare(value, limit)

    return broken


def _no_multiple(value: float, step: float) -> bool:
    if step == 0 or abs(value) == float("inf"):
        return False
    try:
        times = value / step
        return abs(times - round(times)) > 1e-9 * max(1.0, abs(times))
    except OverflowError:
        return False


def _no_match(value: JsonValue, pattern: JsonValue) -> bool:
    return isinstance(value, str) and isinstance(pattern, str) and not matches(pattern, value)


def _no_format(value: JsonValue, name: JsonValue) -> bool:
    return isinstance(value, str) and isinstance(name, str) and not has_format(value, name)


RULES: Mapping[str, Callable[[JsonValue, JsonValue], bool]] = {
    "minLength": _sized(str, more=False),
    "maxLength": _sized(str, more=True),
    "pattern": _no_match,
    "format": _no_format,
    "minimum": _compared(lambda value, limit: value < limit),
    "maximum": _compared(lambda value, limit: value > limit),
    "exclusiveMinimum": _compared(lambda value, limit: value <= limit),
    "exclusiveMaximum": _compared(lambda value, limit: value >= limit),
    "multipleOf": _compared(_no_multiple),
    "minItems": _sized(list, more=False),
    "maxItems": _sized(list, more=True),
    "minProperties": _sized(dict, more=False),
    "maxProperties": _sized(dict, more=True),
}


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; one that is none fits every text."""
    found = compiled(pattern)
    return found is None or found.search(text) is not None


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: JsonValue) -> bool:
    return isinstance(value, float) and value.is_integer()
