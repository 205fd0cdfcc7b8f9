"""JSON that others wrote: a value, or one plain line that says what is wrong with it.

What is nested too deeply to be gone through is wrong in the same way as what is no JSON at all.
Never knows what a text or a file is for. Read next: model/keys.py, model/models_file.py,
session/settings/file.py (who read files).
"""

from __future__ import annotations

import json
import re
from math import isfinite
from pathlib import Path

from pydantic import JsonValue

from singletree.errors import SettingsError
from singletree.pathtext import read_plain

Json = dict[str, JsonValue]

DEPTH = 100
"""Levels of objects and lists that a file may have; nothing real comes near."""

_NOTES = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|,(?=(?:\s|//[^\n]*\n)*[\]}])', re.DOTALL)
"""A text, to be passed over; a remark; a comma before the end of an object or a list."""

UNREADABLE = "{name} cannot be read: {why}"
BROKEN = "{name} is not valid JSON ({why})"
TOO_DEEP = f"it is nested more than {DEPTH} levels deep"
NO_OBJECT = "{name} holds no JSON object"


def decoded(text: str | bytes) -> JsonValue:
    """The value of a text. ValueError for what is no JSON, or nested too deeply."""
    try:
        value: JsonValue = json.loads(text, parse_float=finite, parse_constant=refuse)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return value


def object_in(value: JsonValue) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_in(value: JsonValue) -> list[Json]:
    """The values of a list, each as an object; none for anything else."""
    return [object_in(item) for item in value] if isinstance(value, list) else []


def text_in(value: JsonValue) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def finite(text: str) -> float:
    """A number with a point or an exponent. ValueError where it is too large to be sent on."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def refuse(name: str) -> JsonValue:
    """NaN and the infinities, which Python reads and nobody else."""
    raise ValueError(f"{name} is no JSON")


def read_object(path: Path, name: str | None = None, *, notes: bool = False) -> Json:
    """The object in a file, {} if there is none. SettingsError: `name` and what is wrong.

    `notes`: people write it by hand, with remarks and commas that JSON does not have.
    """
    try:
        data = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SettingsError(UNREADABLE.format(name=name or path, why=why)) from error
    return parse_object(data, name or str(path), notes=notes)


def parse_object(data: bytes, name: str, *, notes: bool = False) -> Json:
    """The object in a file's content; {} for an empty one. SettingsError as above."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is no UTF-8"
        raise SettingsError(UNREADABLE.format(name=name, why=why)) from error
    if not text.strip():
        return {}
    try:
        value = decoded(without_notes(text) if notes else text)
    except ValueError as error:
        raise SettingsError(BROKEN.format(name=name, why=error)) from error
    if not isinstance(value, dict):
        raise SettingsError(NO_OBJECT.format(name=name))
    if is_deep(value):
        raise SettingsError(BROKEN.format(name=name, why=TOO_DEEP))
    return value


def without_notes(text: str) -> str:
    """Blanks for remarks (`//` to the end of the line) and for commas behind the last of a row."""
    return _NOTES.sub(lambda found: found[1] or " " * len(found[0]), text)


def is_deep(value: JsonValue, depth: int = DEPTH) -> bool:
    """Whether a value is nested too deeply to be gone through, stored and sent."""
    level: list[JsonValue] = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
