"""Lines of ignore files (.gitignore and its like): which paths they mean.

A line that is no pattern means nothing, whoever wrote it. Never knows who passes by what. Read
next: globs.py (the patterns), tools/ignore.py (searches), context/ignore.py (skills).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from singletree.globs import translate
from singletree.pathtext import read_plain


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line. `negated`: what it means is shown; `by_name`: it means a name in any folder."""

    matches: re.Pattern[str]
    negated: bool
    only_folders: bool
    by_name: bool


IgnoreRules = Sequence[IgnoreRule]


def rules_in(path: str | Path) -> tuple[IgnoreRule, ...]:
    """The rules of a file; none where it cannot be read."""
    try:
        text = read_plain(path).decode("utf-8", "surrogateescape")
    except OSError:
        return ()
    rules = (_rule(line) for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(rule for rule in rules if rule is not None)


def ignored(rules: IgnoreRules, relative: str, *, folder: bool) -> bool | None:
    """What the last rule says that means this path, relative to the folder of their file."""
    name = relative.rpartition("/")[2]
    for rule in reversed(rules):
        if rule.only_folders and not folder:
            continue
        if rule.matches.fullmatch(name if rule.by_name else relative):
            return not rule.negated
    return None


def _rule(line: str) -> IgnoreRule | None:
    line = _without_end(line.removesuffix("\r"))
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
    return IgnoreRule(matches, negated, only_folders, by_name)


def _without_end(line: str) -> str:
    """The line without the blanks at its end, but for one behind a backslash."""
    bare = line.rstrip(" \t")
    return line[: len(bare) + 1] if bare.endswith("\\") else bare
