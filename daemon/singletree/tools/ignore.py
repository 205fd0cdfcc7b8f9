"""Which paths a search passes by: .gitignore and .ignore files, from the outermost folder inwards.

Rules hold with and without a repository. `.git` itself is always passed by. Read next: find.py.
Never follows a link.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.pathtext import is_file, read_plain
from singletree.tools.globs import translate

GIT = ".git"
_FILES: tuple[tuple[Literal["plain", "git"], str], ...] = (
    ("plain", ".ignore"),
    ("git", ".gitignore"),
)
IGNORE_FILES = tuple(name for _, name in _FILES)


@dataclass(frozen=True, slots=True)
class _Rule:
    matches: re.Pattern[str]
    negated: bool
    only_folders: bool
    by_name: bool


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules of one folder, and those of the folders around it. `base` ends in a slash."""

    base: str
    plain: tuple[_Rule, ...]
    git: tuple[_Rule, ...]
    outer: Ignore | None

    def skips(self, path: str, *, folder: bool) -> bool:
        """Whether a search passes by this absolute path inside `base`."""
        name = path.rpartition("/")[2]
        if name == GIT:
            return True
        for kind in ("plain", "git"):
            level: Ignore | None = self
            while level is not None:
                rules = level.plain if kind == "plain" else level.git
                if rules:
                    verdict = _verdict(rules, path[len(level.base) :], name, folder)
                    if verdict is not None:
                        return verdict
                level = level.outer
        return False

    def inside(self, path: str, names: set[str]) -> Ignore:
        """The rules for what is in a folder that has `names`; the same if it brings none."""
        if not any(file in names for _, file in _FILES):
            return self
        found = {kind: _read(f"{path}/{file}") if file in names else () for kind, file in _FILES}
        return Ignore(f"{path}/", found["plain"], found["git"], self)


def ignore_around(root: str, home: Path) -> Ignore:
    """The rules that hold at `root` because of the folders above it and the user's own."""
    above = [str(p) for p in reversed(Path(root).parents)]
    top = next((i for i, p in enumerate([*above, root]) if os.path.lexists(f"{p}/{GIT}")), 0)
    repository = [*above, root][-1] if top == len(above) else above[top]
    personal = _read(str(home / ".config/git/ignore"))
    excluded = _read(f"{repository}/{GIT}/info/exclude")
    level = Ignore(f"{repository.rstrip('/')}/", (), personal + excluded, None)
    for path in above[top:]:
        names = {file for _, file in _FILES if is_file(Path(path, file))}
        level = level.inside(path.rstrip("/"), names)
    return level


def _verdict(rules: tuple[_Rule, ...], relative: str, name: str, folder: bool) -> bool | None:
    for rule in reversed(rules):
        if rule.only_folders and not folder:
            continue
        if rule.matches.fullmatch(name if rule.by_name else relative):
            return not rule.negated
    return None


def _read(path: str) -> tuple[_Rule, ...]:
    try:
        text = read_plain(path).decode("utf-8", "surrogateescape")
    except OSError:
        return ()
    rules = (_rule(line) for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(rule for rule in rules if rule is not None)


def _rule(line: str) -> _Rule | None:
    line = re.sub(r"(?<!\\)[ \t]+$", "", line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line[1:] if negated else line
    only_folders = pattern.endswith("/")
    pattern = pattern.rstrip("/") if only_folders else pattern
    by_name = "/" not in pattern
    if not pattern.strip("/"):
        return None
    try:
        matches = re.compile(translate(pattern.removeprefix("/"), braces=False), re.DOTALL)
    except ValueError:
        return None
    return _Rule(matches, negated, only_folders, by_name)
