"""Layers of settings as plain values: older names made new, keys nested, one laid on another.

Pure; knows which lists grow and no other meaning of a key. Read next: layers.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

Values = dict[str, JsonValue]

COMBINED = ("packages", "extensions", "skills", "prompts", "themes")
"""Lists that grow from layer to layer; every other list is replaced."""


def modern(values: Values) -> Values:
    """Older names of keys."""
    values = dict(values)
    mode = values.pop("queueMode", None)
    if mode is not None:
        values.setdefault("steeringMode", mode)
    skills = values.get("skills")
    if isinstance(skills, dict):
        values["skills"] = skills.get("customDirectories", [])
        if "enableSkillCommands" in skills:
            values.setdefault("enableSkillCommands", skills["enableSkillCommands"])
    retry = values.get("retry")
    if isinstance(retry, dict) and "maxDelayMs" in retry:
        retry = dict(retry)
        longest = retry.pop("maxDelayMs")
        values["retry"] = merge({"provider": {"maxRetryDelayMs": longest}}, retry)
    return values


def without_null(values: Values) -> Values:
    """Without what is null, at any depth."""
    return {
        key: without_null(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def remove_at(values: Values, place: tuple[int | str, ...]) -> str:
    """Take out the value at a place (a list as a whole), and name it."""
    inner = values
    for depth, part in enumerate(place):
        below = inner.get(str(part))
        rest = place[depth + 1 :]
        if not (isinstance(below, dict) and rest and str(rest[0]) in below):
            inner.pop(str(part), None)
            return ".".join(str(p) for p in place[: depth + 1])
        inner = below
    raise AssertionError("a problem without a place")


def nested(values: Mapping[str, JsonValue]) -> Values:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`."""
    whole: Values = {}
    for key, value in values.items():
        for part in reversed(key.split(".")):
            value = {part: value}
        assert isinstance(value, dict)
        whole = merge(whole, value)
    return whole


def merge(below: Values, above: Values, *, top: bool = False) -> Values:
    """One layer on another. `top`: these are whole layers, not groups of one."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = merge(old, value)
        elif top and key in COMBINED and isinstance(old, list) and isinstance(value, list):
            merged[key] = old + [item for item in value if item not in old]
        elif top and key == "defaultTools" and isinstance(old, list) and isinstance(value, list):
            merged[key] = _tools(old, value)
        else:
            merged[key] = value
    return merged


def _tools(old: list[JsonValue], new: list[JsonValue]) -> list[JsonValue]:
    """A list with "+name" and "-name" changes the one below; plain names replace it."""
    words = [word for word in new if isinstance(word, str)]
    plain: list[JsonValue] = [word for word in words if word[:1] not in ("+", "-")]
    tools = plain or (list(old) if words else [])
    for word in words:
        name = word[1:]
        if word.startswith("+") and name not in tools:
            tools.append(name)
        elif word.startswith("-") and name in tools:
            tools.remove(name)
    return tools
