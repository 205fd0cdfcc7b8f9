"""What settings leave out of the skills and templates that are found: `!glob`, `+path`, `-path`.

An exact `-path` weighs most, then an exact `+path`, then a `!glob`. Entries without a mark name
places: places.py. Pure but for the home folder that `~` stands for. Read next: skills.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from singletree.globs import translate
from singletree.pathtext import at_home

SKILL_FILE = "SKILL.md"
_MARKS = "!+-"


def is_mark(entry: str) -> bool:
    """Whether an entry of a list in settings is no place but leaves something out or in."""
    return entry.startswith(tuple(_MARKS))


@dataclass(frozen=True, slots=True)
class Choice:
    """The marks of one list. Paths in it are seen from `folder`; a skill may go by its folder."""

    folder: Path
    globs: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str], folder: Path) -> Choice:
        """The marks among the entries."""
        told: dict[str, list[str]] = {mark: [] for mark in _MARKS}
        for entry in entries:
            if is_mark(entry):
                told[entry[0]].append(str(at_home(entry[1:])))
        return cls(folder, *(tuple(told[mark]) for mark in _MARKS))

    def wants(self, path: Path) -> bool:
        """Whether a file that was found is to be used."""
        if not self.globs and not self.dropped:
            return True
        meant = [path, path.parent] if path.name == SKILL_FILE else [path]
        exact = {name for one in meant for name in (str(one), os.path.relpath(one, self.folder))}
        if not exact.isdisjoint(self.dropped):
            return False
        if not exact.isdisjoint(self.kept):
            return True
        names = exact | {one.name for one in meant}
        return not any(_matches(glob, name) for glob in self.globs for name in names)


def _matches(glob: str, name: str) -> bool:
    try:
        pattern = translate(glob)
    except ValueError:
        return glob == name
    return re.fullmatch(pattern, name, re.DOTALL) is not None
