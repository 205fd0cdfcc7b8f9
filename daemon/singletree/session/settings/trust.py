"""Whether a workspace's own settings, prompts, skills and extensions count.

What was decided stands in pi's `trust.json` in the agent folder ({folder: true or false}, the
nearest folder above counts), never in the workspace: a project cannot trust itself. With a yes goes
a seal over the code that we would run; if the code is another one later, the question is open
again. Nothing here ever makes opening fail. Reads and writes files: call it in a worker thread.
Never loads what it looks at. Read next: workspace_trust.py, layers.py, ../../extensions/loader.py.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from singletree.errors import SettingsError
from singletree.extensions.loader import workspace_extensions
from singletree.held import alone_in, held
from singletree.pathtext import home, is_file, is_there
from singletree.session.files import replace_file
from singletree.session.settings.file import read_file

GATED = {
    "settings.json": "settings",
    "mcp.json": "mcp",
    "extensions": "extensions",
    "skills": "skills",
    "prompts": "prompts",
    "themes": "themes",
    "SYSTEM.md": "system_prompt",
    "APPEND_SYSTEM.md": "system_prompt",
}
"""What of a workspace's `.pi` counts only with trust; AGENTS.md and its like always do."""

CODE_KEYS = ("shellPath", "shellCommandPrefix", "extensions", "packages")
"""Settings that name something to be run; they are under the seal as well."""

CHANGED = (
    "The code that this folder brings along is not the one you trusted. Nothing of the folder is "
    "used until you trust it again."
)
PASSED_OVER = ("__pycache__", "node_modules", ".git")
Why = Literal["decided", "saved", "default", "nothing_gated", "undecided", "changed"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of a workspace that does not count."""

    kind: str
    path: Path


@dataclass(frozen=True, slots=True)
class Trust:
    """The answer, why it is so, and what is left aside for want of trust.

    `warnings`: what was wrong with the files that keep decisions.
    """

    trusted: bool
    why: Why
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def left_aside(self) -> tuple[tuple[str, str], ...]:
        """What is skipped, as (kind, path)."""
        return tuple((one.kind, str(one.path)) for one in self.skipped)


def trust_of(
    agent_dir: Path,
    workspace: Path,
    *,
    decided: bool | None = None,
    default: Literal["ask", "always", "never"] = "ask",
) -> Trust:
    """Whether the workspace is trusted. `decided`: by the editor or the command line, for now.

    `default`: the user's `defaultProjectTrust`; nobody is asked here, so "ask" is a no.
    """
    found = tuple(gated(workspace))
    warnings: list[str] = []
    if decided is not None:
        return _answer(decided, "decided", found)
    if not found:
        return Trust(True, "nothing_gated")
    saved = _saved(agent_dir, workspace, warnings)
    if saved is not None:
        why: Why = "saved"
        if saved and not _seal_holds(agent_dir, workspace, warnings):
            saved, why = False, "changed"
            warnings.append(CHANGED)
        return _answer(saved, why, found, tuple(warnings))
    if default == "ask":
        return _answer(False, "undecided", found, tuple(warnings))
    return _answer(default == "always", "default", found, tuple(warnings))


def save_trust(agent_dir: Path, workspace: Path, trusted: bool | None) -> None:
    """Keep a decision for this folder and those below it (None: forget it)."""
    key = str(workspace.resolve())
    sealed = seal(workspace) if trusted else None
    with held(agent_dir / "trust.json"), alone_in(_seals(agent_dir).parent):
        decisions = read_file(agent_dir / "trust.json")
        _put(decisions, key, trusted)
        seals = read_file(_seals(agent_dir))
        _put(seals, key, sealed)
        _write(agent_dir / "trust.json", decisions)
        _write(_seals(agent_dir), seals)


def gated(workspace: Path) -> Iterator[Skipped]:
    """What is there that needs trust."""
    for name, kind in GATED.items():
        path = workspace / ".pi" / name
        if is_there(path):
            yield Skipped(kind, path)
    top = home().resolve()
    start = workspace.resolve()
    for folder in (start, *start.parents):
        if folder == top:
            return
        path = folder / ".agents" / "skills"
        if is_there(path):
            yield Skipped("skills", path)
        if is_there(folder / ".git"):
            return


def seal(workspace: Path) -> str:
    """A digest of all code that trust lets in: extensions, and the settings that name some."""
    digest = hashlib.sha256()
    try:
        settings = read_file(workspace / ".pi" / "settings.json")
    except SettingsError:
        settings = {}
    named = settings.get("extensions")
    more = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    extensions = [extension.path for extension in workspace_extensions(workspace, more)]
    for path in sorted(file for extension in extensions for file in _files(extension)):
        inside = path.relative_to(workspace) if path.is_relative_to(workspace) else path
        digest.update(f"\0{inside}\0".encode(errors="surrogateescape"))
        digest.update(_digest(path))
    for key in CODE_KEYS:
        if settings.get(key):
            digest.update(f"\0{key}\0{json.dumps(settings[key], sort_keys=True)}".encode())
    return digest.hexdigest()


def _answer(
    trusted: bool, why: Why, found: tuple[Skipped, ...], warnings: tuple[str, ...] = ()
) -> Trust:
    return Trust(trusted, why, () if trusted else found, warnings)


def _saved(agent_dir: Path, workspace: Path, warnings: list[str]) -> bool | None:
    """The decision for the nearest folder at or above the workspace."""
    decisions = _read(agent_dir / "trust.json", warnings)
    start = workspace.resolve()
    for folder in (start, *start.parents):
        decision = decisions.get(str(folder))
        if isinstance(decision, bool):
            return decision
    return None


def _seal_holds(agent_dir: Path, workspace: Path, warnings: list[str]) -> bool:
    """Whether the code is the one that was trusted. A yes without a seal gets one now."""
    key, now = str(workspace.resolve()), seal(workspace)
    seals = _read(_seals(agent_dir), warnings)
    if key in seals:
        return seals[key] == now
    if not warnings:
        with alone_in(_seals(agent_dir).parent):
            _write(_seals(agent_dir), {**_read(_seals(agent_dir), warnings), key: now})
    return True


def _seals(agent_dir: Path) -> Path:
    return agent_dir / "singletree" / "seals.json"


def _read(path: Path, warnings: list[str]) -> dict[str, JsonValue]:
    try:
        return read_file(path)
    except SettingsError as error:
        warnings.append(error.message)
        return {}


def _put(values: dict[str, JsonValue], key: str, value: JsonValue) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value


def _write(path: Path, values: dict[str, JsonValue]) -> None:
    replace_file(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def _files(extension: Path) -> Iterator[Path]:
    """All files of an extension; links are followed, but no folder twice."""
    if is_file(extension):
        yield extension
        return
    seen: set[str] = set()
    for folder, folders, files in os.walk(extension, followlinks=True):
        real = os.path.realpath(folder)
        folders[:] = [f for f in folders if f not in PASSED_OVER] if real not in seen else []
        if real in seen:
            continue
        seen.add(real)
        yield from (Path(folder) / name for name in files)


def _digest(path: Path) -> bytes:
    try:
        if not is_file(path):
            return b"no plain file"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable {error.errno}".encode()
