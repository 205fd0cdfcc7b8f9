"""Ignore files in folders of skills: .gitignore, .ignore and .fdignore, nested and negated.

Read next: ../gitignore.py (what a line means), skills.py, the only one that asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from singletree.gitignore import IgnoreRules, ignored, rules_in

NAMES = (".gitignore", ".ignore", ".fdignore")


@dataclass(frozen=True, slots=True)
class Ignored:
    """What the ignore files down to here hide; the deepest one has the last word."""

    _rules: tuple[tuple[Path, IgnoreRules], ...] = ()

    def inside(self, folder: Path) -> Ignored:
        """The same with the ignore files of one more folder."""
        rules = [rule for name in NAMES for rule in rules_in(folder / name)]
        return Ignored((*self._rules, (folder, rules))) if rules else self

    def hides(self, path: Path, *, is_folder: bool) -> bool:
        """Whether a path below all these folders is hidden."""
        for folder, rules in reversed(self._rules):
            relative = path.relative_to(folder).as_posix()
            verdict = ignored(rules, relative, folder=is_folder)
            if verdict is not None:
                return verdict
        return False
