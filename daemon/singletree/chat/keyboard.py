"""Where lines come from: a terminal with history, or a pipe. Standard library.

While nothing runs, a terminal's line is edited with readline; while something runs, lines are taken
as they are, so that a person can type into it. Never knows what a line means. Read next: talk.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

try:
    import readline
except ImportError:  # a Python built without it: lines can still be typed
    readline = None  # type: ignore[assignment]  # typeshed knows only the module

HISTORY_LINES = 2000
PASTES_WHOLE = "set enable-bracketed-paste on"
"""What is pasted is one text, with all its lines."""


class Pipe:
    """Lines of a pipe or a file: one is read when the one before has been dealt with."""

    interactive = False
    fd = None

    def ask(self, prompt: str, suggestion: str = "") -> str | None:
        """The next line; None at the end."""
        line = sys.stdin.readline()
        return line.rstrip("\r\n") if line else None

    def typed(self) -> Iterator[str | None]:
        """Nothing: a pipe is not read while something runs."""
        return iter(())

    def leave(self) -> None:
        """A pipe ends by itself."""

    def interrupted(self) -> bool:
        """Never: Ctrl-C ends us at once."""
        return False

    def close(self) -> None:
        """Nothing to keep."""


class Terminal:
    """Lines of a person. `poke` wakes whoever waits when Ctrl-C was pressed."""

    interactive = True

    def __init__(self, history: Path, poke: Callable[[], None]) -> None:
        self.fd: int | None = 0
        self._history = history
        self._poke = poke
        self._buffer = b""
        self._asking = self._interrupted = False
        signal.signal(signal.SIGINT, self._on_interrupt)
        if readline:
            readline.parse_and_bind(PASTES_WHOLE)
            with contextlib.suppress(OSError):
                readline.read_history_file(history)
            readline.set_history_length(HISTORY_LINES)

    def ask(self, prompt: str, suggestion: str = "") -> str | None:
        """A line; None at the end of input.

        `suggestion` stands in it already, and what was typed ahead without an end.
        """
        if self.fd is None:
            return None
        if readline:
            typed, self._buffer = self._buffer.decode("utf-8", "replace"), b""
            words = f"{suggestion} {typed}".strip().replace("\n", " ")
            readline.set_startup_hook(lambda: readline.insert_text(words))
        self._asking = True
        try:
            if self.interrupted():
                raise KeyboardInterrupt
            return input(prompt)
        except EOFError:
            return None
        finally:
            self._asking = False
            if readline:
                readline.set_startup_hook(None)

    def typed(self) -> Iterator[str | None]:
        """The lines typed while something runs; None for Ctrl-D."""
        more = os.read(0, 65536)
        if not more:
            yield None
        self._buffer += more.replace(b"\r", b"\n")  # typed ahead, while the terminal was raw
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            yield line.decode("utf-8", "replace").rstrip("\r")

    def leave(self) -> None:
        """Take no more lines: the person wants to go."""
        self.fd = None

    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed since the last look."""
        was, self._interrupted = self._interrupted, False
        return was

    def close(self) -> None:
        """Keep the history, for its owner's eyes only."""
        if not readline:
            return
        with contextlib.suppress(OSError):
            for folder in reversed(self._history.parents):
                folder.mkdir(mode=0o700, exist_ok=True)
            os.close(os.open(self._history, os.O_CREAT | os.O_APPEND, 0o600))
            readline.write_history_file(self._history)

    def _on_interrupt(self, number: int, frame: object) -> None:
        if self._asking:
            raise KeyboardInterrupt
        self._interrupted = True
        self._poke()
