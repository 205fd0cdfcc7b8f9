"""One settings.json: read it, change one value in it. The rest of the file stays as it is.

Never knows what a key means. Read next: layers.py (what the values amount to), ../files.py (how it
is written).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue

from singletree.errors import SettingsError, or_session_error
from singletree.held import held
from singletree.jsontext import parse_object, read_object
from singletree.session.files import replace_file

NOT_COUNTED = "{error}; its values do not count and it was left as it is."
NOT_WRITTEN = "{path} could not be written: {why}."
NO_GROUP = '{path}: "{key}" is not a group of settings, so "{inner}" cannot be set in it.'


def read_file(path: Path) -> dict[str, JsonValue]:
    """The object in a file, {} if there is none. SettingsError says what is wrong with it."""
    with _left_alone():
        return read_object(path)


def parse(path: Path, data: bytes) -> dict[str, JsonValue]:
    """The object in a file's content. SettingsError says what is wrong with it."""
    with _left_alone():
        return parse_object(data, str(path))


@contextlib.contextmanager
def _left_alone() -> Iterator[None]:
    """Say of a broken file what that means."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(NOT_COUNTED.format(error=error.message)) from error


def write_value(path: Path, key: str, value: JsonValue) -> None:
    """Set `a.b.c` (None: remove it), at once or not at all. A broken file is refused."""
    with or_session_error(NOT_WRITTEN, path), held(path):
        whole = read_file(path)
        _set(whole, key, value, path)
        replace_file(path, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def _set(whole: dict[str, JsonValue], key: str, value: JsonValue, path: Path) -> None:
    *groups, last = key.split(".")
    inner = whole
    for group in groups:
        below = inner.setdefault(group, {})
        if not isinstance(below, dict):
            raise SettingsError(NO_GROUP.format(path=path, key=group, inner=last))
        inner = below
    if value is None:
        inner.pop(last, None)
        _drop_empty(whole, groups)
    else:
        inner[last] = value


def value_at(whole: Mapping[str, JsonValue], key: str) -> tuple[bool, JsonValue]:
    """Whether `a.b.c` is there, and what it is."""
    inner: JsonValue = dict(whole)
    for part in key.split("."):
        if not isinstance(inner, dict) or part not in inner:
            return False, None
        inner = inner[part]
    return True, inner


def _drop_empty(whole: dict[str, JsonValue], groups: list[str]) -> None:
    """Remove the groups that are empty now, innermost first."""
    for depth in range(len(groups), 0, -1):
        holder: JsonValue = whole
        for group in groups[: depth - 1]:
            holder = holder[group] if isinstance(holder, dict) else None
        if isinstance(holder, dict) and holder.get(groups[depth - 1]) == {}:
            del holder[groups[depth - 1]]
