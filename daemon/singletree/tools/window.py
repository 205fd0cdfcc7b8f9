"""A window on a stream of lines: those from `offset` on that may be shown, and how many more.

Takes bytes in pieces and keeps no more of them than can be shown, so a huge file costs no memory.
Never knows a file. Read next: read.py (who looks through it), truncate.py (the limits).
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace

from singletree.tools.looks import CONTROLS, FOREIGN, shown
from singletree.tools.truncate import MAX_BYTES, MAX_LINES, Cut, keep_head


@dataclass(frozen=True, slots=True)
class Seen:
    """What the window shows. `cut` counts lines as the file does; its totals are the window's.

    `total_lines` and `total_bytes` are the whole file's. `long_line`: bytes of the line that is
    shown in part. `foreign`: bytes that are no UTF-8 were among it; `drawn`: control characters.
    """

    cut: Cut
    total_lines: int
    total_bytes: int
    ends_with_newline: bool
    long_line: int = 0
    foreign: bool = False
    drawn: bool = False


class Window:
    """Feed it the file from its beginning, then look. `limit` None: as many lines as fit."""

    def __init__(self, offset: int = 1, limit: int | None = None, size: int = MAX_BYTES) -> None:
        self._offset = offset
        self._limit = limit
        self._size = size
        self._buffer = bytearray()
        self._to_skip = offset - 1
        self._taken_bytes = 0
        self._taken_newlines = 0
        self._first_line = 0
        self._newlines = 0
        self._total_bytes = 0
        self._ends_with_newline = False

    def feed(self, data: bytes) -> None:
        """The next piece of the file."""
        if not data:
            return
        newlines = data.count(b"\n")
        self._total_bytes += len(data)
        self._newlines += newlines
        self._ends_with_newline = data.endswith(b"\n")
        if newlines < self._to_skip:
            self._to_skip -= newlines
            return
        if self._to_skip:
            data = data.split(b"\n", self._to_skip)[self._to_skip]
            self._to_skip = 0
        self._take(data)

    def look(self) -> Seen:
        """What may be shown, after the last piece."""
        full = self._full()
        more = self._lines() >= self._offset + self._taken_newlines
        raw = bytes(self._buffer)
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        text = decoder.decode(raw, final=len(raw) == self._taken_bytes)
        cut = keep_head(shown(text), MAX_LINES, self._size)
        ends_open = self._taken_bytes and not full and not self._ends_with_newline
        cut = replace(
            cut,
            text=cut.text.removesuffix("\n") if full and more and cut.by is None else cut.text,
            total_lines=self._taken_newlines + (1 if ends_open else 0),
            total_bytes=self._taken_bytes - (1 if full and more else 0),
            first=self._offset,
            last=self._offset + cut.lines - 1,
        )
        return Seen(
            cut,
            self._lines(),
            self._total_bytes,
            self._ends_with_newline,
            self._first_line if cut.partial else 0,
            FOREIGN.search(text) is not None,
            CONTROLS.search(text) is not None,
        )

    def _take(self, data: bytes) -> None:
        if self._full():
            return
        if self._limit is not None:
            left = self._limit - self._taken_newlines
            parts = data.split(b"\n", left)
            if len(parts) > left:
                data = data[: len(data) - len(parts[left])]
        if not self._taken_newlines:
            end = data.find(b"\n")
            self._first_line += len(data) if end < 0 else end
        self._taken_bytes += len(data)
        self._taken_newlines += data.count(b"\n")
        self._buffer += data[: max(self._size + 8 - len(self._buffer), 0)]

    def _full(self) -> bool:
        return self._limit is not None and self._taken_newlines >= self._limit

    def _lines(self) -> int:
        """Lines of the whole file so far."""
        return self._newlines + (1 if self._total_bytes and not self._ends_with_newline else 0)
