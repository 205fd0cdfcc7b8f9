"""The place in a file that a text not found was probably meant to be, and where it differs.

For the words of an error only: nothing is ever changed on such a guess. Read next: match.py (what
is found), edit.py (who tells).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from singletree.tools.looks import looks
from singletree.tools.match import View

MAX_COMPARED = 20_000
"""Lines of a file that are compared one by one."""

MAX_VOTES = 200_000
"""Pairs of equal lines that are looked at; the rarest lines say most, and come first."""

MAX_RATIOS = 60
"""Lines that are compared letter by letter: those that have the same letters."""

ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Near:
    """Lines `first` to `last` (from 1), and the first of them that differs, here and as given."""

    first: int
    last: int
    line: int
    here: str
    given: str


def nearest(view: View, old: str) -> Near | None:
    """The likeliest place, None if nothing is like it."""
    given = old.strip("\n").split("\n")
    bare = [looks(line).strip() for line in given]
    start = _by_votes(view, bare)
    if start is None and any(bare):
        start = _by_likeness(view, bare)
    if start is None:
        return None
    first = max(start, 0)
    last = min(start + len(bare), view.count) - 1
    at = next((i for i in range(first, last + 1) if not _equal(view, i, bare[i - start])), last)
    return Near(first + 1, last + 1, at + 1, view.content(at), given[at - start])


def _equal(view: View, index: int, bare: str) -> bool:
    return view.bare[index] == bare


def _by_votes(view: View, bare: list[str]) -> int | None:
    """Lines that are in both vote for where the first line would be, long ones with more weight."""
    wanted = _rarest(view, bare)
    votes: Counter[int] = Counter()
    for index, line in enumerate(view.bare):
        for offset in wanted.get(line, ()):
            votes[index - offset] += len(line)
    return votes.most_common(1)[0][0] if votes else None


def _rarest(view: View, bare: list[str]) -> dict[str, list[int]]:
    """The lines that may vote, and where they stand in `bare`."""
    places: dict[str, list[int]] = {}
    for offset, line in enumerate(bare):
        if line:
            places.setdefault(line, []).append(offset)
    counts = Counter(line for line in view.bare if line in places)
    left = MAX_VOTES
    wanted: dict[str, list[int]] = {}
    for line, count in sorted(counts.items(), key=lambda item: item[1] * len(places[item[0]])):
        wanted[line] = places[line][: max(left // count, 0 if wanted else 1)]
        left -= count * len(wanted[line])
    return wanted


def _by_likeness(view: View, bare: list[str]) -> int | None:
    """The line that is most like the longest one given."""
    offset = max(range(len(bare)), key=lambda index: len(bare[index]))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(bare[offset][:500])
    best, where, left = ALIKE, None, MAX_RATIOS
    for index, line in enumerate(view.bare[:MAX_COMPARED]):
        matcher.set_seq1(line[:500])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, where = ratio, index - offset
            left -= 1
            if not left:
                break
    return where
