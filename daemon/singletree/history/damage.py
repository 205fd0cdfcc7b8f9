"""What is wrong with a session file, and where its damaged bytes are kept.

Damage is told, never skipped in silence, and never repaired in the file itself: the bytes are
copied aside. What was copied aside at an earlier opening has been told then and is not told again.
Of a file in tatters the first damages of each kind are told, and that there are more. Never knows
what an entry says. Read next: index.py (which finds it), recovery.py (which copies it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2s
from pathlib import Path
from typing import Literal

from singletree.private import make_private, put_whole

DamageKind = Literal[
    "torn_tail",
    "broken_line",
    "broken_entry",
    "not_an_entry",
    "before_header",
    "second_header",
    "duplicate_id",
    "missing_parent",
    "parent_circle",
    "foreign_writer",
    "newer_version",
    "older_version",
]
WITH_BYTES: frozenset[DamageKind] = frozenset(
    ("torn_tail", "broken_line", "broken_entry", "not_an_entry", "before_header", "second_header")
)
MOST = 20
"""Damages of one kind that are told one by one."""

_SENTENCES: dict[DamageKind, str] = {
    "torn_tail": "Line {line} was cut off while it was written.",
    "broken_line": "Line {line} is damaged and cannot be read.",
    "broken_entry": "Entry {id} is damaged and cannot be read.",
    "not_an_entry": "Line {line} is no entry.",
    "before_header": "Line {line} stands before the header and cannot be read.",
    "second_header": "Line {line} is a second header.",
    "duplicate_id": "Line {line} has the id {id} of an earlier line; the later one counts.",
    "missing_parent": "Line {line} ({id}) follows a missing entry and is shown as a start.",
    "parent_circle": "Line {line} ({id}) would be its own ancestor and is shown as a start.",
    "foreign_writer": "Another program wrote to the session file from line {line} on.",
    "newer_version": "The file is of a newer version ({id}); it is open for reading only.",
    "older_version": "The file is of version {id}; what is added goes into a copy of version 3.",
}
_KEPT = " A copy of its bytes is kept in {kept}."
_MORE = " What else is of this kind is not told."


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing wrong. `line` counts from 1, `offset` and `size` are bytes, `kept` is the copy.

    `more`: what else is of this kind is not told.
    """

    kind: DamageKind
    line: int
    offset: int = 0
    size: int = 0
    id: str | None = None
    kept: Path | None = None
    more: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.size

    @property
    def message(self) -> str:
        """One line for a person."""
        said = _SENTENCES[self.kind].format(line=self.line, id=self.id)
        kept = _KEPT.format(kept=self.kept) if self.kept else ""
        return f"{said}{kept}{_MORE if self.more else ''}"


class Told:
    """The damage of one file that a person hears of."""

    def __init__(self, found: Iterable[Damage]) -> None:
        self.all: list[Damage] = []
        self._counts: Counter[DamageKind] = Counter()
        for one in found:
            self.add(one)

    def add(self, one: Damage) -> None:
        """One more."""
        self._counts[one.kind] += 1
        if self._counts[one.kind] <= MOST:
            self.all.append(replace(one, more=self._counts[one.kind] == MOST))

    def tells(self, kind: DamageKind) -> bool:
        """Whether a person has heard of this kind."""
        return kind in self._counts


def keep_aside(folder: Path, name: str, offset: int, raw: bytes) -> tuple[Path | None, bool]:
    """Copy damaged bytes into the folder; the path, and whether they are to be told.

    They are not where they lie there already. The line's end does not count: a torn tail gets one
    when the next line is written. Where no copy can be made there is no path.
    """
    raw = raw.removesuffix(b"\n")
    mark = blake2s(raw, digest_size=4).hexdigest()
    path = folder / f"{name}.{offset}.{mark}"
    try:
        if path.exists() and path.stat().st_size == len(raw):
            return path, False
        make_private(folder)
        with put_whole(path) as out:
            out.write(raw)
    except OSError:
        return None, True
    return path, True
