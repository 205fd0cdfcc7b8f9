"""The JSON schema of settings.json, whole and for one key.

Pure. Read next: keys.py (what it is made from).
"""

from __future__ import annotations

from pydantic import JsonValue

from singletree.session.settings.keys import Settings
from singletree.session.settings.merging import Values


def settings_schema() -> dict[str, JsonValue]:
    """The JSON schema of a settings file."""
    schema: dict[str, JsonValue] = Settings.model_json_schema(by_alias=True)
    return schema


def schema_of(key: str) -> dict[str, JsonValue] | None:
    """The JSON schema of the value of `a.b.c`; None where there is no such key."""
    whole = settings_schema()
    found: JsonValue = whole
    for part in key.split("."):
        found = _below(_resolved(found, whole), part)
    if found is None:
        return None
    schema = dict(_resolved(found, whole))
    return {**schema, "$defs": whole["$defs"]} if "$ref" in str(schema) else schema


def _below(schema: Values, part: str) -> JsonValue:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return properties.get(part)
    more = schema.get("additionalProperties")
    return more if isinstance(more, dict) else {} if more is True else None


def _resolved(schema: JsonValue, whole: Values) -> Values:
    if not isinstance(schema, dict):
        return {}
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    defined = whole["$defs"]
    target = defined.get(name) if isinstance(defined, dict) else None
    return {**target, **schema} if isinstance(target, dict) else schema
