"""The log: lines on stderr, written by a thread, so that a host that never reads stops nobody.

What does not fit any more is left out and counted. Never knows what is logged. SINGLETREE_LOG sets
the level (debug, info, warning, error).
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from typing import Final

WAITING: Final = 2000
FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LEFT_OUT: Final = "(%d lines of the log were left out: nobody read it)\n"


class StderrHandler(logging.Handler):
    """Hands each line to a thread; never waits."""

    def __init__(self, fd: int = 2) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(FORMAT))
        self._fd = fd
        self._lines: queue.Queue[str] = queue.Queue(WAITING)
        self._left_out = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line."""
        try:
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self._left_out += 1

    def drain(self, seconds: float) -> None:
        """Give what is queued a moment to be written, at the very end."""
        done = threading.Thread(target=self._lines.join, daemon=True)
        done.start()
        done.join(seconds)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            if self._left_out:
                line, self._left_out = LEFT_OUT % self._left_out + line, 0
            data = memoryview(line.encode(errors="backslashreplace"))
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
            except OSError:
                pass  # there is no stderr; there is nothing to tell and nobody to tell it to
            self._lines.task_done()


def log_to_stderr() -> StderrHandler:
    """Send the log of the whole process there."""
    handler = StderrHandler()
    level = os.environ.get("SINGLETREE_LOG", "warning").upper()
    logging.basicConfig(handlers=[handler], level=getattr(logging, level, logging.WARNING))
    logging.getLogger("pygls").setLevel(logging.WARNING)  # below that it logs every body in full
    return handler
