"""What two texts share, line by line, in a time that is bounded whatever they hold.

Lines at both ends are taken off first. What is between is matched only where lines are few, and few
of them alike: thousands of the same line would take minutes. Pure. Read next: replace.py and
preview.py (who compare).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

COMPARED: Final = 10_000_000
ALIKE: Final = 250_000
"""Pairs of lines, and of the same line, up to which they are matched."""

STRIDE: Final = 1024
NO_END: Final = "\\ No newline at end of file"

Code = tuple[str, int, int, int, int]
"""As difflib's: the kind, the range of old lines, the range of new ones."""


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Code]:
    """What stays and what changes."""
    head = shared(old, new)
    tail = min(shared(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    i_end, j_end = len(old) - tail, len(new) - tail
    codes = [
        ("equal", 0, head, 0, head),
        *_between(old[head:i_end], new[head:j_end], head),
        ("equal", i_end, len(old), j_end, len(new)),
    ]
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def unified(old: Sequence[str], new: Sequence[str], before: str, after: str) -> Iterator[str]:
    """A unified diff of lines with their ends, under the names of both; nothing of equal ones."""
    if old == new:
        return
    yield f"--- {before}\n+++ {after}\n"
    for group in _Known(opcodes(old, new)).get_grouped_opcodes():
        spans = _span(group[0][1], group[-1][2]), _span(group[0][3], group[-1][4])
        yield f"@@ -{spans[0]} +{spans[1]} @@\n"
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                yield from (_row(" ", line) for line in old[i:i_end])
            else:
                yield from (_row("-", line) for line in old[i:i_end])
                yield from (_row("+", line) for line in new[j:j_end])


def shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines, or characters, both begin with."""
    size, at = min(len(one), len(other)), 0
    while at < size and one[at : at + STRIDE] == other[at : at + STRIDE]:
        at += STRIDE
    while at < size and one[at] == other[at]:
        at += 1
    return min(at, size)


def _between(old: Sequence[str], new: Sequence[str], offset: int) -> list[Code]:
    if len(old) * len(new) > COMPARED or _alike(old, new) > ALIKE:
        return [("replace", offset, offset + len(old), offset, offset + len(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(kind, i + offset, k + offset, j + offset, m + offset) for kind, i, k, j, m in codes]


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Pairs of lines that are the same."""
    counted = Counter(new)
    return sum(counted[line] for line in old)


class _Known(SequenceMatcher[str]):
    """What was compared already, to be grouped."""

    def __init__(self, codes: list[Code]) -> None:
        super().__init__()
        self._codes = codes

    def get_opcodes(self) -> list[Code]:  # type: ignore[override]  # difflib names the kinds
        return self._codes


def _span(start: int, end: int) -> str:
    """A range of lines as a hunk names it."""
    count = end - start
    first = start + 1 if count else start
    return f"{first}" if count == 1 else f"{first},{count}"


def _row(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{NO_END}\n"
