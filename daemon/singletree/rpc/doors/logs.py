"""The log: lines on stderr, written by a thread, so that a host that never reads stops nobody.

What does not fit any more is left out and counted; a log file of the daemon's own is cut before it
grows large. Never knows what is logged. SINGLETREE_LOG sets the level (debug, info, warning,
error). Read next: detach.py (whose file it is).
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
from pathlib import Path
from typing import Final

from singletree.rpc.pipes.stdio import write_all

WAITING: Final = 2000
DRAIN_SECONDS: Final = 0.2
FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LEFT_OUT: Final = "(%d lines of the log were left out: nobody read it)\n"
LOG_BYTES: Final = 1 << 20
"""A log file of our own that is longer is cut."""
KEPT_BYTES: Final = 1 << 18
"""What is kept of it, at its end."""


class StderrHandler(logging.Handler):
    """Hands each line to a thread; never waits. `own`: the file to be cut, if it is what `fd` is.

    A file that somebody else sent our stderr to is theirs, and is never cut.
    """

    def __init__(self, fd: int = 2, own: Path | None = None) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(FORMAT))
        self._fd = fd
        self._own = own
        self._lines: queue.Queue[str] = queue.Queue(WAITING)
        self._left_out = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line."""
        try:
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self._left_out += 1

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Give what is queued a moment to be written, at the very end."""
        done = threading.Thread(target=self._lines.join, daemon=True)
        done.start()
        done.join(seconds)

    def _write(self) -> None:
        self._cut()
        while True:
            line = self._lines.get()
            if self._left_out:
                line, self._left_out = LEFT_OUT % self._left_out + line, 0
            with contextlib.suppress(OSError):  # there is no stderr, and nobody to tell it to
                write_all(self._fd, line.encode(errors="backslashreplace"))
            self._cut()
            self._lines.task_done()

    def _cut(self) -> None:
        """Keep the end of our own file, from a whole line on, where it has become too long."""
        with contextlib.suppress(OSError):
            now, own = os.fstat(self._fd), self._own
            if own is None or now.st_size <= LOG_BYTES or not os.path.samestat(now, own.stat()):
                return
            with own.open("rb") as file:
                file.seek(-KEPT_BYTES, os.SEEK_END)
                kept = file.read().partition(b"\n")[2]
            os.ftruncate(self._fd, 0)
            os.write(self._fd, kept)


def log_to_stderr(own: Path | None = None) -> StderrHandler:
    """Send the log of the whole process there. `own`: the daemon's own file, if that is there."""
    handler = StderrHandler(own=own)
    level = os.environ.get("SINGLETREE_LOG", "warning").upper()
    logging.basicConfig(handlers=[handler], level=getattr(logging, level, logging.WARNING))
    logging.getLogger("pygls").setLevel(logging.WARNING)  # below that it logs every body in full
    return handler
