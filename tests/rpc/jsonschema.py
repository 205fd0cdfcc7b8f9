"""A value against the published schema: as much of JSON Schema as it uses, and one thing more.

An object's unknown fields are faults unless its schema allows them in words: our own messages say
nothing that the contract does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

Schema = Mapping[str, JsonValue]

KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
READ = {
    "$ref",
    "$defs",
    "type",
    "anyOf",
    "oneOf",
    "const",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
    "maxLength",
    "pattern",
    "discriminator",
    "default",
    "description",
    "x-upsert",
}


def faults(root: Schema, schema: JsonValue, value: JsonValue, at: str = "") -> Iterator[str]:
    """Everything wrong with the value, one line each."""
    if schema is True:
        return
    assert isinstance(schema, dict)
    assert set(schema) <= READ, f"{at}: words this reader does not know: {set(schema) - READ}"
    ref = schema.get("$ref")
    if isinstance(ref, str):
        definitions = root["$defs"]
        assert isinstance(definitions, dict)
        yield from faults(root, definitions[ref.removeprefix("#/$defs/")], value, at)
    options = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(options, list):
        found = [list(faults(root, option, value, at)) for option in options]
        if all(found):
            yield f"{at}: none of {len(found)} fits: {min(found, key=len)}"
    kind = schema.get("type")
    if isinstance(kind, str) and not fits(kind, value):
        yield f"{at}: no {kind}: {value!r}"
        return
    yield from plain(schema, value, at)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from faults(root, schema["items"], item, f"{at}/{index}")
    if isinstance(value, dict) and kind == "object":
        yield from fields(root, schema, value, at)


def fits(kind: str, value: JsonValue) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def plain(schema: Schema, value: JsonValue, at: str) -> Iterator[str]:
    if "const" in schema and value != schema["const"]:
        yield f"{at}: not {schema['const']!r}: {value!r}"
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        yield f"{at}: not in {allowed}: {value!r}"
    if isinstance(value, str):
        longest, pattern = schema.get("maxLength", len(value)), schema.get("pattern", "")
        assert isinstance(longest, int)
        assert isinstance(pattern, str)
        if len(value) > longest or not re.search(pattern, value):
            yield f"{at}: longer than {longest}, or not {pattern}: {value!r}"
    if isinstance(value, int | float):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        if not low <= value <= high:
            yield f"{at}: not between {low} and {high}: {value}"


def fields(root: Schema, schema: Schema, value: Mapping[str, JsonValue], at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    needed = schema.get("required", [])
    assert isinstance(known, dict)
    assert isinstance(needed, list)
    yield from (f"{at}: {name} is missing" for name in needed if name not in value)
    others = schema.get("additionalProperties", "properties" not in schema)
    for name, inner in value.items():
        if name in known:
            yield from faults(root, known[name], inner, f"{at}/{name}")
        elif others is False:
            yield f"{at}: {name} is unknown"
        else:
            yield from faults(root, others, inner, f"{at}/{name}")
