"""The pipes: file descriptors 0 and 1 taken for the protocol alone, and the thread that reads.

Works on descriptors, so that a socket's is as good as a pipe's. Never knows asyncio (the start
path reads before it is imported) nor what a frame says. Read next: frames.py, outbox.py.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable

TYPE_CHECKING = False  # whoever carries bytes needs no frames
if TYPE_CHECKING:
    from singletree.rpc.pipes.frames import Frame, HeaderFrames

READ_SIZE = 1 << 16
BATCHES_AHEAD = 4


def take_stdio() -> tuple[int, int]:
    """Move the protocol's pipes to private descriptors: (to read, to write).

    From here on descriptor 0 is empty and 1 is stderr, for prints, libraries and children alike:
    nobody else can put a byte between the frames. Duplicates are not inherited by children.
    """
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr either
        os.dup2(null, 1)
        os.dup2(null, 2)
    os.close(null)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for the process's life
    sys.stdout = sys.stderr
    return reading, writing


def read_some(fd: int) -> bytes:
    """What there is, waiting for the first byte; empty at the end of the stream."""
    while True:
        try:
            return os.read(fd, READ_SIZE)
        except BlockingIOError:  # whoever started us made the pipe non-blocking
            select.select([fd], [], [])


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, waiting for room."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])


class Reader(threading.Thread):
    """Reads a descriptor and hands on what the splitter finds, a batch at a time.

    `deliver` and `ended` are called in this thread; `ended` once, with the error if there was one.
    At most BATCHES_AHEAD batches are on their way: the taker calls `handled` for each.
    """

    def __init__(
        self,
        fd: int,
        splitter: HeaderFrames,
        deliver: Callable[[list[Frame]], None],
        ended: Callable[[OSError | None], None],
    ) -> None:
        super().__init__(name="rpc-read", daemon=True)
        self._fd = fd
        self._splitter = splitter
        self._deliver = deliver
        self._ended = ended
        self._room = threading.Semaphore(BATCHES_AHEAD)
        self._stopped = False

    def handled(self) -> None:
        """One batch is done with; called from any thread."""
        self._room.release()

    def stop(self) -> None:
        """Nobody takes what comes any more; whoever closes the descriptor ends the last read."""
        self._stopped = True
        self._room.release()

    def run(self) -> None:
        """Read until the end."""
        why: OSError | None = None
        try:
            while not self._stopped and (data := read_some(self._fd)):
                if frames := self._splitter.feed(data):
                    self._room.acquire()
                    self._deliver(frames)
        except OSError as error:
            why = error
        self._ended(why)
