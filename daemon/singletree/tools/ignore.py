"""Which paths a search passes by: .gitignore and .ignore files, from the outermost folder inwards.

Rules hold with and without a repository. `.git` itself is always passed by. Read next:
../gitignore.py (what a line means), find.py. Never follows a link.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.gitignore import IgnoreRules, ignored, rules_in
from singletree.pathtext import is_file

GIT = ".git"
_FILES: tuple[tuple[Literal["plain", "git"], str], ...] = (
    ("plain", ".ignore"),
    ("git", ".gitignore"),
)
IGNORE_FILES = tuple(name for _, name in _FILES)


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules of one folder, and those of the folders around it. `base` ends in a slash."""

    base: str
    plain: IgnoreRules
    git: IgnoreRules
    outer: Ignore | None

    def skips(self, path: str, *, folder: bool) -> bool:
        """Whether a search passes by this absolute path inside `base`."""
        if path.rpartition("/")[2] == GIT:
            return True
        for kind in ("plain", "git"):
            level: Ignore | None = self
            while level is not None:
                rules = level.plain if kind == "plain" else level.git
                if rules:
                    verdict = ignored(rules, path[len(level.base) :], folder=folder)
                    if verdict is not None:
                        return verdict
                level = level.outer
        return False

    def inside(self, path: str, names: set[str]) -> Ignore:
        """The rules for what is in a folder that has `names`; the same if it brings none."""
        if not any(file in names for _, file in _FILES):
            return self
        found = {kind: rules_in(f"{path}/{file}") if file in names else () for kind, file in _FILES}
        return Ignore(f"{path}/", found["plain"], found["git"], self)


def ignore_around(root: str, home: Path) -> Ignore:
    """The rules that hold at `root` because of the folders above it and the user's own."""
    above = [str(p) for p in reversed(Path(root).parents)]
    top = next((i for i, p in enumerate([*above, root]) if os.path.lexists(f"{p}/{GIT}")), 0)
    repository = [*above, root][-1] if top == len(above) else above[top]
    personal = rules_in(home / ".config/git/ignore")
    excluded = rules_in(f"{repository}/{GIT}/info/exclude")
    level = Ignore(f"{repository.rstrip('/')}/", (), personal + excluded, None)
    for path in above[top:]:
        names = {file for _, file in _FILES if is_file(Path(path, file))}
        level = level.inside(path.rstrip("/"), names)
    return level
