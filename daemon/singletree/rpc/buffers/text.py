"""The text of an open buffer: lines as LSP counts them, edits that cost little in a long file.

Lines end with LF, CRLF or CR and nothing else; `str.splitlines` knows more ends and puts an edit in
the wrong place. Lines lie in blocks, so an edit copies one block and not the file; blocks are never
changed in place, so a copy of a text costs a list. Positions are (line, character) with characters
counted in the encoding agreed with the client; one beyond a line or inside a character means the
nearest place before it. Never knows a document or a client. Read next: documents.py.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, chain
from typing import Final, Literal

BLOCK: Final = 256

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)")


class Text:
    """A text that is edited by ranges."""

    __slots__ = ("_blocks", "_ends", "_whole")

    def __init__(self, text: str = "") -> None:
        self._blocks = _in_blocks(tuple(split_lines(text)))
        self._ends: list[int] | None = None
        self._whole: str | None = text

    def __str__(self) -> str:
        if self._whole is None:
            self._whole = "".join(chain.from_iterable(self._blocks))
        return self._whole

    def copy(self) -> Text:
        """The same text, apart from later edits."""
        twin = Text.__new__(Text)
        twin._blocks = list(self._blocks)
        twin._ends = self._ends
        twin._whole = self._whole
        return twin

    @property
    def line_count(self) -> int:
        """How many lines; an empty text has one."""
        return self._line_ends()[-1]

    def line(self, number: int) -> str:
        """A line with its end."""
        block, at = self._find(number)
        return self._blocks[block][at]

    def replace(self, start: Position, end: Position, new: str, encoding: Encoding) -> None:
        """Put `new` in the place of what is between two positions."""
        (first, head), (last, tail) = sorted(self._place(p, encoding) for p in (start, end))
        text = self.line(first)[:head] + new + self.line(last)[tail:]
        stop = last + 1
        if first and text.startswith("\n") and self.line(first - 1).endswith("\r"):
            first -= 1  # a CR and a LF have met
            text = self.line(first) + text
        if stop < self.line_count and text.endswith("\r") and self.line(stop).startswith("\n"):
            text += self.line(stop)
            stop += 1
        lines = split_lines(text)
        if stop < self.line_count:
            lines.pop()
        self._splice(first, stop, tuple(lines))

    def position(self, offset: int, encoding: Encoding) -> Position:
        """Where the `offset`-th character (code point) of the text is."""
        number = 0
        for block in self._blocks:
            size = sum(map(len, block))
            if offset < size:
                break
            offset -= size
            number += len(block)
        else:
            number = self.line_count - 1
            return number, units(_content(self.line(number)), encoding)
        for line in block:
            if offset < len(line):
                return number, units(_content(line)[:offset], encoding)
            offset -= len(line)
            number += 1
        raise AssertionError("the offset was in this block")

    def between(self, start: Position, end: Position, encoding: Encoding) -> str:
        """The text between two positions."""
        (first, head), (last, tail) = sorted(self._place(p, encoding) for p in (start, end))
        if first == last:
            return self.line(first)[head:tail]
        middle = [self.line(n) for n in range(first + 1, last)]
        return "".join([self.line(first)[head:], *middle, self.line(last)[:tail]])

    def _place(self, position: Position, encoding: Encoding) -> Position:
        """The line that exists, and the index of the character in it."""
        number, character = position
        if number >= self.line_count:
            number = self.line_count - 1
            return number, len(_content(self.line(number)))
        return number, index(_content(self.line(number)), character, encoding)

    def _line_ends(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._blocks)))
        return self._ends

    def _find(self, number: int) -> tuple[int, int]:
        ends = self._line_ends()
        block = bisect_right(ends, number)
        return block, number - (ends[block - 1] if block else 0)

    def _splice(self, first: int, stop: int, lines: tuple[str, ...]) -> None:
        head, at = self._find(first)
        tail, last = self._find(stop - 1)
        merged = self._blocks[head][:at] + lines + self._blocks[tail][last + 1 :]
        if len(merged) < BLOCK // 4 and tail + 1 < len(self._blocks):
            tail += 1
            merged += self._blocks[tail]
        if head != tail or len(merged) != len(self._blocks[head]):
            self._ends = None
        self._blocks[head : tail + 1] = _in_blocks(merged)
        self._whole = None


def split_lines(text: str) -> list[str]:
    """The lines with their ends; what follows the last end comes last, be it empty."""
    if "\r" in text:
        lines = _LINE.findall(text)
        lines.append(text[sum(map(len, lines)) :])
        return lines
    parts = text.split("\n")
    return [*(part + "\n" for part in parts[:-1]), parts[-1]]


def index(line: str, character: int, encoding: Encoding) -> int:
    """The index in `line` of a character counted in an encoding."""
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        data = line.encode(errors="surrogatepass")
        at = min(character, len(data))
        while at < len(data) and data[at] & 0xC0 == 0x80:
            at -= 1
        return len(data[:at].decode(errors="surrogatepass"))
    if max(line) < "\U00010000":
        return min(character, len(line))
    seen = 0
    for at, letter in enumerate(line):
        seen += 1 + (letter >= "\U00010000")
        if seen > character:
            return at
    return len(line)


def units(text: str, encoding: Encoding) -> int:
    """The length of a text in an encoding."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode(errors="surrogatepass"))
    return len(text) + sum(letter >= "\U00010000" for letter in text)


def _content(line: str) -> str:
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\n", "\r")) else line


def _in_blocks(lines: tuple[str, ...]) -> list[tuple[str, ...]]:
    if len(lines) <= 2 * BLOCK:
        return [lines]
    return [lines[at : at + BLOCK] for at in range(0, len(lines), BLOCK)]
