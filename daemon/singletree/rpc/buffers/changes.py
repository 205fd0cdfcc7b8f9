"""What is between two texts: the smallest edits, and whether edits are in a text that went on.

Lines that both have stay; of lines that differ, the characters at both ends that are the same stay
too. A line's end is never cut in two. Pure; slow for large texts, so called in a thread. Read next:
../editing/applying.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from singletree.rpc.buffers.text import split_lines
from singletree.tools.compare import shared

COMPARED: Final = 250_000
"""Pairs of lines up to which lines are matched; what is larger is replaced as a whole."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Characters `start` to `end` of the old text become `new`."""

    start: int
    end: int
    new: str


def smallest(old: str, new: str) -> list[Hunk]:
    """The edits that make `new` of `old`, in order; none touch each other."""
    a, b = split_lines(old), split_lines(new)
    head = shared(a, b)
    tail = shared(a[head:][::-1], b[head:][::-1])
    a, b = a[head : len(a) - tail], b[head : len(b) - tail]
    offset = sum(map(len, split_lines(old)[:head]))
    hunks: list[Hunk] = []
    for first, last, replaced in _blocks(a, b):
        start = offset + sum(map(len, a[:first]))
        hunk = _trimmed(start, "".join(a[first:last]), replaced)
        if hunks and hunks[-1].end == hunk.start:
            before = hunks.pop()
            hunk = Hunk(before.start, hunk.end, before.new + hunk.new)
        hunks.append(hunk)
    return hunks


def contains(old: str, new: str, actual: str) -> bool:
    """Whether `actual` is `new` but for changes made elsewhere than where `new` differs."""
    return _apart(_placed(smallest(old, new)), smallest(new, actual))


def lacks(old: str, new: str, actual: str) -> bool:
    """Whether `actual` is `old` but for changes made elsewhere than where `new` differs."""
    spans = [(hunk.start, hunk.end) for hunk in smallest(old, new)]
    return _apart(spans, smallest(old, actual))


def unix(text: str) -> str:
    """The text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _placed(hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """Where the new texts stand once all edits are made."""
    spans, shift = [], 0
    for hunk in hunks:
        start = hunk.start + shift
        spans.append((start, start + len(hunk.new)))
        shift += len(hunk.new) - (hunk.end - hunk.start)
    return spans


def _apart(spans: Sequence[tuple[int, int]], others: Sequence[Hunk]) -> bool:
    return all(other.end < start or end < other.start for other in others for start, end in spans)


def _blocks(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, str]]:
    """Lines `first` to `last` of `a`, and what takes their place."""
    if a == b:
        return []
    if len(a) * len(b) > COMPARED:
        return [(0, len(a), "".join(b))]
    found: list[tuple[int, int, str]] = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "replace" and j - i == m - k:
            pairs = [n for n in range(j - i) if a[i + n] != b[k + n]]
            found += [(i + n, i + n + 1, b[k + n]) for n in pairs]
        elif kind != "equal":
            found.append((i, j, "".join(b[k:m])))
    return found


def _trimmed(start: int, old: str, new: str) -> Hunk:
    """The hunk without what both texts share at their two ends."""
    head = shared(old, new)
    if head and old[head - 1] == "\r" and "\n" in (old[head : head + 1], new[head : head + 1]):
        head -= 1
    rest_old, rest_new = old[head:], new[head:]
    tail = shared(rest_old[::-1], rest_new[::-1])
    if (
        tail
        and rest_old[len(rest_old) - tail] == "\n"
        and "\r"
        in (
            old[len(old) - tail - 1 : len(old) - tail],
            new[len(new) - tail - 1 : len(new) - tail],
        )
    ):
        tail -= 1
    return Hunk(start + head, start + len(old) - tail, rest_new[: len(rest_new) - tail])
