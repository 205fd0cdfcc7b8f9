"""The JSON schema of a tool's arguments as a model should see it: nothing that only costs tokens.

No titles, no docstrings of our classes, no references, no null for what may be left out. Pure.
Read next: ../tool.py (whose arguments), repair.py (what is put right against it).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel, JsonValue

_DATA = ("default", "const", "enum", "examples")
_REF = "#/$defs/"


@lru_cache(maxsize=256)
def plain_schema(args: type[BaseModel]) -> Mapping[str, JsonValue]:
    """The schema of a model, made plain."""
    schema: dict[str, JsonValue] = args.model_json_schema()
    defs = schema.pop("$defs", {})
    schema.pop("description", None)
    made = _plain(schema, defs if isinstance(defs, dict) else {}, ())
    assert isinstance(made, dict)
    return made


def _plain(value: JsonValue, defs: Mapping[str, JsonValue], inside: tuple[str, ...]) -> JsonValue:
    if isinstance(value, list):
        return [_plain(part, defs, inside) for part in value]
    if not isinstance(value, dict):
        return value
    ref = value.get("$ref")
    if isinstance(ref, str) and ref.startswith(_REF):
        return _resolved(value, ref.removeprefix(_REF), defs, inside)
    out: dict[str, JsonValue] = {}
    for key, part in value.items():
        if key == "properties" and isinstance(part, dict):
            out[key] = {name: _optional(_plain(p, defs, inside)) for name, p in part.items()}
        elif key in _DATA:
            out[key] = part
        elif key != "title":
            out[key] = _plain(part, defs, inside)
    return out


def _resolved(
    value: Mapping[str, JsonValue],
    name: str,
    defs: Mapping[str, JsonValue],
    inside: tuple[str, ...],
) -> JsonValue:
    """What is referred to, in its place; where it would contain itself, anything."""
    target = defs.get(name)
    made = {} if name in inside else _plain(target, defs, (*inside, name))
    beside = {key: part for key, part in value.items() if key != "$ref"}
    kept = made if isinstance(made, dict) else {}
    kept = {key: part for key, part in kept.items() if key != "description"}
    return {**kept, **beside}


def _optional(value: JsonValue) -> JsonValue:
    """A property that may be left out: null is no further type, and no default worth telling."""
    if not isinstance(value, dict) or value.get("default", 0) is not None:
        return value
    out = {key: part for key, part in value.items() if key != "default"}
    choices = out.get("anyOf")
    if isinstance(choices, list):
        some = [choice for choice in choices if choice != {"type": "null"}]
        if len(some) == 1 and isinstance(some[0], dict):
            del out["anyOf"]
            return {**some[0], **out}
    return out
