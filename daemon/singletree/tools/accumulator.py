"""The tail of a stream, kept within two limits while it grows.

Text comes in any pieces; what is kept is bounded, what is counted is everything. Never knows where
the stream comes from, nor where the whole of it is saved. Read next: truncate.py (the limits).
"""

from __future__ import annotations

from singletree.tools.truncate import MAX_BYTES, MAX_LINES, Cut, tail_of, to_bytes, to_text


class Accumulator:
    """The tail of a stream that never ends: counts everything, holds no more than it may show.

    `overflowed` turns true with the piece that goes over a limit: from then on the whole is no
    longer here.
    """

    def __init__(self, lines: int = MAX_LINES, size: int = MAX_BYTES) -> None:
        self.total_bytes = 0
        self.last_line_bytes = 0
        self._max_lines = lines
        self._size = size
        self._newlines = 0
        self._tail = bytearray()

    @property
    def total_lines(self) -> int:
        """Lines so far; one that is still being written counts."""
        return self._newlines + (1 if self.last_line_bytes else 0)

    @property
    def overflowed(self) -> bool:
        """Whether a limit was passed, so that the whole must be kept elsewhere."""
        return self.total_lines > self._max_lines or self.total_bytes > self._size

    def add(self, text: str) -> None:
        """Take text."""
        data = to_bytes(text)
        self.total_bytes += len(data)
        newlines = data.count(b"\n")
        self._newlines += newlines
        if newlines:
            self.last_line_bytes = len(data) - data.rindex(b"\n") - 1
        else:
            self.last_line_bytes += len(data)
        self._tail += data[-self._room() :]
        if len(self._tail) > 2 * self._room():
            del self._tail[: -self._room()]

    def cut(self) -> Cut:
        """What may be shown of all that came so far."""
        tail = bytes(self._tail[-self._room() :])
        ends = tail.endswith(b"\n")
        whole = self.total_bytes == len(tail)
        body = self.total_bytes - (1 if ends else 0)
        if self.total_lines <= self._max_lines and body <= self._size and whole:
            text = to_text(tail if len(tail) <= self._size else tail[:-1])
            return Cut(text, self.total_lines, self.total_bytes, 1, self.total_lines, side="tail")
        return tail_of(
            tail.removesuffix(b"\n"),
            self.total_lines,
            self.total_bytes,
            self._max_lines,
            self._size,
        )

    def _room(self) -> int:
        """Bytes that decide what is shown: the limit, a newline before it and one behind it."""
        return self._size + 2
