"""A text that grows by small pieces, in little more memory than the text itself takes.

Two hundred thousand pieces of eight characters are twelve megabytes as pieces and under two as a
text. Never knows what the text is. Read next: ../agent/draft.py, which has one for each part.
"""

from __future__ import annotations

JOINED = 512
"""Pieces that wait before they become one."""


class Growing:
    """Pieces in, the whole out."""

    __slots__ = ("_done", "_pieces")

    def __init__(self) -> None:
        self._done: list[str] = []
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        """One more at the end."""
        self._pieces.append(piece)
        if len(self._pieces) >= JOINED:
            self._done.append("".join(self._pieces))
            self._pieces.clear()

    def __str__(self) -> str:
        return "".join(self._done) + "".join(self._pieces)
