"""Where a text is meant in a file: exactly, else by its looks, else with another indentation.

Line ends are never told apart (LF, CR LF, CR). By looks: quotes, dashes, blanks, Unicode forms, and
blanks at line ends; what read shows of stray bytes and control characters looks like them. With
another indentation only whole lines match, and only if the indentation maps clearly. The first way
that finds anything decides. Never changes a text. Read next: replace.py (what takes its place),
edit.py (who asks).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Literal

from singletree.tools.looks import clusters, looks, looks_of_cluster

EOL = re.compile(r"\r\n|\n|\r")
_ANY_EOL = r"(?>\r\n|(?<!\r)\n|\r(?!\n))"

MANY = 1000
"""More places than this are not looked for."""

How = Literal["exact", "looks", "indent"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the file: characters `start` to `end`.

    `indent` maps the indentation of the searched text to the file's, where they differ.
    """

    start: int
    end: int
    how: How
    indent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: its characters, and where its line end ends."""

    start: int
    end: int
    next: int


class View:
    """A file's text with its lines, and what they look like when somebody asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._measured: tuple[int, list[tuple[int, int]]] = (-1, [])

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Where the line ends begin and end."""
        return [end.span() for end in EOL.finditer(self.text)]

    @property
    def count(self) -> int:
        """How many lines: behind a final line end there is an empty one."""
        return len(self._ends) + 1

    def line(self, index: int) -> Line:
        """A line by its index."""
        start = self._ends[index - 1][1] if index else 0
        end = self._ends[index] if index < len(self._ends) else (len(self.text),) * 2
        return Line(start, *end)

    def content(self, index: int) -> str:
        """What is in a line, without its end."""
        line = self.line(index)
        return self.text[line.start : line.end]

    def line_at(self, position: int) -> int:
        """The index of the line in which a character lies."""
        return bisect_right(self._ends, position, key=itemgetter(1))

    def boundaries(self, index: int) -> list[tuple[int, int]]:
        """The function below for a line, kept for those who ask again; none of an ASCII line."""
        if self._measured[0] != index:
            content = self.content(index)
            self._measured = index, [] if content.isascii() else boundaries(content)
        return self._measured[1]

    @cached_property
    def looks(self) -> list[str]:
        """What the lines look like, without blanks at their ends."""
        return [looks(line).rstrip() for line in EOL.split(self.text)]

    @cached_property
    def whole_looks(self) -> str:
        """The looks of all lines, joined by LF."""
        return "\n".join(self.looks)

    @cached_property
    def bare(self) -> list[str]:
        """The same without indentation."""
        return [line.lstrip() for line in self.looks]


def find_spots(view: View, old: str) -> list[Spot]:
    """The places of `old` (its line ends are LF), up to MANY, in the first way that finds any."""
    spots = _exact(view.text, old)
    if not spots and looks(old).strip():
        spots = _by_looks(view, old) or _by_indent(view, old)
    return spots


def boundaries(text: str) -> list[tuple[int, int]]:
    """Where characters end: the position in the text, and in what it looks like."""
    ends = [(0, 0)]
    at = seen = 0
    for cluster in clusters(text):
        at += len(cluster)
        seen += len(looks_of_cluster(cluster))
        ends.append((at, seen))
    return ends


def indentation(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _exact(text: str, old: str) -> list[Spot]:
    """Also places that overlap: they are no less ambiguous."""
    if "\n" in old and "\r" in text:
        pattern = re.compile(f"(?=({_ANY_EOL.join(map(re.escape, old.split(chr(10))))}))")
        found = (match.span(1) for match in pattern.finditer(text))
    else:
        found = ((at, at + len(old)) for at in _occurrences(text, old))
    return [Spot(*span, "exact") for span in islice(found, MANY)]


def _by_looks(view: View, old: str) -> list[Spot]:
    parts = [looks(part) for part in old.split("\n")]
    needle = "\n".join(part.rstrip() for part in parts)
    to_line_end = parts[-1] != parts[-1].rstrip()
    spots = []
    joined = view.whole_looks
    starts = _starts(view.looks)
    for at in _occurrences(joined, needle):
        end = at + len(needle)
        if to_line_end and joined[end : end + 1] not in ("", "\n"):
            continue
        first, last = bisect_right(starts, at) - 1, bisect_right(starts, end) - 1
        begin = _position(view, first, at - starts[first], late=True)
        stop = _position(view, last, end - starts[last], late=False)
        if begin is not None and stop is not None:
            spots.append(Spot(begin, stop, "looks"))
        if len(spots) == MANY:
            break
    return spots


def _by_indent(view: View, old: str) -> list[Spot]:
    lines = old.split("\n")
    above = lines[0] == "" and len(lines) > 1
    below = lines[-1] == "" and len(lines) > 1
    inner = lines[1 if above else 0 : -1 if below else None]
    needle = "\n" + "\n".join(looks(line).strip() for line in inner) + "\n"
    joined = "\n" + "\n".join(view.bare) + "\n"
    starts = _starts(view.bare)
    spots = []
    for at in _occurrences(joined, needle) if needle.strip() else ():
        first = bisect_right(starts, at) - 1
        last = first + len(inner) - 1
        indent = _indent_map(view, first, inner)
        if indent is None or (above and not first):
            continue
        start = view.line(first - 1).end if above else view.line(first).start
        end = view.line(last).next if below else view.line(last).end
        spots.append(Spot(start, end, "indent", indent))
        if len(spots) == MANY:
            break
    return spots


def _indent_map(view: View, first: int, old: list[str]) -> dict[str, str] | None:
    """Which indentation of the file stands for which of `old`; None if that is not clear."""
    known: dict[str, str] = {}
    for index, part in enumerate(old, first):
        if part.strip():
            there = indentation(view.content(index))
            if known.setdefault(indentation(part), there) != there:
                return None
    return known


def _position(view: View, line: int, column: int, *, late: bool) -> int | None:
    """The place in the text of a column of what a line looks like; None inside a character.

    The end of what is seen is the end of the line: blanks there are before it. `late`: behind what
    cannot be seen.
    """
    here = view.line(line)
    if column == len(view.looks[line]) and (column or late):
        return here.end
    ends = view.boundaries(line)
    if not ends:
        return here.start + column
    seen = itemgetter(1)
    at = bisect_right(ends, column, key=seen) - 1 if late else bisect_left(ends, column, key=seen)
    fits = at < len(ends) and seen(ends[at]) == column
    return here.start + ends[at][0] if fits else None


def _starts(lines: list[str]) -> list[int]:
    """Where each line begins when they are joined by one character."""
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts


def _occurrences(text: str, needle: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)
