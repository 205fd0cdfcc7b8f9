"""The published schema, and whether a value fits one of its shapes."""

from __future__ import annotations

from functools import cache

from pydantic import JsonValue
from tests.rpc.jsonschema import faults

from singletree.rpc.described.jsonschema import schema
from singletree.rpc.protocol.base import JsonObject


@cache
def published() -> JsonObject:
    return schema()


def wrong(shape: str, value: JsonValue) -> list[str]:
    return list(faults(published(), {"$ref": f"#/$defs/{shape}"}, value, shape))


def fits(shape: str, value: JsonValue) -> None:
    assert wrong(shape, value) == []
