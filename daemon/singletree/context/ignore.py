"""Ignore files in folders of skills: .gitignore, .ignore and .fdignore, nested and negated.

The patterns themselves are a library's affair, loaded only where such a file exists. Read next:
skills.py, the only one that asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from singletree.pathtext import read_plain

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = (".gitignore", ".ignore", ".fdignore")


@dataclass(frozen=True, slots=True)
class Ignored:
    """What the ignore files from `root` down to here hide; the deepest one has the last word."""

    root: Path
    _rules: tuple[tuple[Path, GitIgnoreSpec], ...] = field(default=())

    def inside(self, folder: Path) -> Ignored:
        """The same with the ignore files of one more folder."""
        lines: list[str] = []
        for name in NAMES:
            try:
                lines += read_plain(folder / name).decode("utf-8", "replace").splitlines()
            except OSError:
                continue
        if not lines:
            return self
        from pathspec import GitIgnoreSpec

        return Ignored(self.root, (*self._rules, (folder, GitIgnoreSpec.from_lines(lines))))

    def hides(self, path: Path, *, is_folder: bool) -> bool:
        """Whether a path below all these folders is hidden."""
        for folder, spec in reversed(self._rules):
            relative = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            verdict = spec.check_file(relative).include
            if verdict is not None:
                return verdict
        return False
