"""Settings in layers: defaults < user < workspace (if trusted) < editor or command line.

A file that is no JSON object counts as empty and is never overwritten; a value that does not fit
its key is left out, so that the layer below speaks; both are told in `warnings`. What a workspace
may never set is left out and told in `ignored`. Reads files: call it in a worker thread. Never
reads the environment or a key of a provider. Read next: keys.py (what there is), merging.py.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, ValidationError

from singletree.errors import SettingsError
from singletree.session.settings.file import parse, read_file, value_at, write_value
from singletree.session.settings.keys import DEFAULT_TOOLS, Settings
from singletree.session.settings.merging import (
    Values,
    merge,
    modern,
    nested,
    remove_at,
    without_null,
)

Scope = Literal["default", "user", "workspace", "override"]

USER_ONLY = (
    "permissions",
    "sandbox",
    "environment",
    "trust",
    "trusted",
    "defaultProjectTrust",
    "providers",
    "models",
    "baseUrl",
    "apiKey",
    "apiKeys",
    "auth",
    "httpProxy",
    "cacheWarming",
    "selfUpdateCommand",
    "daemon",
)
"""Keys a workspace may never set, whatever it is trusted with."""

WRONG_VALUE = '{where}: "{key}" is left out: {why}.'
NOT_YOURS = '"{key}" counts only in the user settings, not in those of a workspace.'
UNKNOWN_KEY = 'There is no setting "{key}".'
OVERRIDES = "the editor's settings"


@dataclass(frozen=True, slots=True)
class Layers:
    """What all layers amount to, and what each of them says (lowest first, without defaults)."""

    settings: Settings
    values: tuple[tuple[Scope, Mapping[str, JsonValue]], ...] = ()
    warnings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def source_of(self, key: str) -> Scope:
        """The highest layer that says something about `a.b.c`."""
        for scope, values in reversed(self.values):
            if value_at(values, key)[0]:
                return scope
        return "default"

    def value_of(self, key: str) -> JsonValue:
        """The value that counts for `a.b.c`, in its JSON form."""
        found, value = value_at(self.settings.model_dump(mode="json", by_alias=True), key)
        if not found:
            raise SettingsError(UNKNOWN_KEY.format(key=key), code="not_found")
        return value


def settings_path(agent_dir: Path, workspace: Path | None, scope: Scope) -> Path:
    """The file of a layer."""
    if scope == "workspace" and workspace is not None:
        return workspace / ".pi" / "settings.json"
    return agent_dir / "settings.json"


def load_settings(
    agent_dir: Path,
    workspace: Path | None = None,
    overrides: Mapping[str, JsonValue] | None = None,
    trusted: bool = False,
) -> Settings:
    """The settings that count. `overrides`: nested as in the file, or with dotted keys."""
    return read_layers(agent_dir, workspace, overrides, trusted).settings


def read_layers(
    agent_dir: Path,
    workspace: Path | None = None,
    overrides: Mapping[str, JsonValue] | None = None,
    trusted: bool = False,
    unsaved: Mapping[Path, bytes] | None = None,
) -> Layers:
    """The settings that count, with their sources and with what was wrong.

    `unsaved`: texts of files, by real path, that are open in an editor and not saved; one that is
    no valid file yet, as somebody types it, does not count.
    """
    warnings: list[str] = []
    ignored: list[str] = []
    layers: list[tuple[Scope, Values]] = []
    user = settings_path(agent_dir, workspace, "user")
    layers.append(("user", _clean(_read(user, warnings, unsaved), str(user), warnings)))
    if workspace is not None and trusted:
        own = settings_path(agent_dir, workspace, "workspace")
        values = _read(own, warnings, unsaved)
        ignored += [key for key in USER_ONLY if values.pop(key, None) is not None]
        layers.append(("workspace", _clean(values, str(own), warnings)))
    if overrides:
        layers.append(("override", _clean(nested(overrides), OVERRIDES, warnings)))
    merged: Values = {"defaultTools": list[JsonValue](DEFAULT_TOOLS)}
    for _, values in layers:
        merged = merge(merged, values, top=True)
    return Layers(_settings(merged), tuple(layers), tuple(warnings), tuple(ignored))


def may_set(scope: Scope, key: str) -> bool:
    """Whether this layer may say something about `a.b.c`."""
    return scope != "workspace" or key.split(".")[0] not in USER_ONLY


def set_value(path: Path, key: str, value: JsonValue, scope: Scope = "user") -> None:
    """Set `a.b.c` in a settings file (None: remove it). Refuses what would not count there."""
    if not may_set(scope, key):
        raise SettingsError(NOT_YOURS.format(key=key))
    if value is not None:
        problems: list[str] = []
        _clean(nested({key: value}), str(path), problems)
        if problems:
            raise SettingsError(problems[0])
    write_value(path, key, value)


def _settings(values: Values) -> Settings:
    return Settings.model_validate(values, by_alias=True, by_name=False)


def _read(path: Path, warnings: list[str], unsaved: Mapping[Path, bytes] | None) -> Values:
    if unsaved and (data := unsaved.get(Path(os.path.realpath(path)))) is not None:
        with contextlib.suppress(SettingsError):
            return parse(path, data)
    try:
        return read_file(path)
    except SettingsError as error:
        warnings.append(error.message)
        return {}


def _clean(values: Values, where: str, warnings: list[str]) -> Values:
    """A layer without what is null and without what does not fit its key."""
    values = without_null(modern(values))
    while True:
        try:
            _settings(values)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            key = remove_at(values, problem["loc"])
            why = problem["msg"].removeprefix("Input ")
            why = why[:1].lower() + why[1:]
            warnings.append(WRONG_VALUE.format(where=where, key=key, why=why))
        else:
            return values
