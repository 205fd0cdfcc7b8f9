"""What waits to be sent to one client: in order, joined, bounded, written without waiting.

The loop never blocks on a client: `put` only appends, and all frames of one turn of the loop leave
in one write. What a pipe with room surely takes is written at once, all else by a thread; so a
client that stops reading costs bounded memory and nobody's time. Replies, requests
and events are kept; whoever streams asks `lagging` first and leaves out what may be left out. When
too much is unsent the client is given up: `lost` is told once. Never reorders, never drops by
itself, never knows a message. Read next: ../telling/feed.py (who leaves out), ../connection.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import select
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from singletree.rpc.pipes.frames import header_frame
from singletree.rpc.pipes.stdio import write_all

WRITE_SIZE: Final = 256 << 10
AT_ONCE: Final = select.PIPE_BUF
"""Bytes that can be written without waiting where there is room for any (POSIX, of a pipe)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that may be unsent: before deltas are left out, until they go again, events, all."""

    lagging: int = 1 << 20
    recovered: int = 256 << 10
    events: int = 16 << 20
    total: int = 64 << 20


class TooFarBehind(ConnectionError):
    """The client reads too slowly or not at all, and was given up."""


class Outbox:
    """The way out to one client. All methods belong to the loop's thread.

    `lost(error)` is called once when the client can't be written to any more.
    """

    def __init__(
        self,
        fd: int,
        lost: Callable[[Exception], object],
        *,
        limits: Limits | None = None,
    ) -> None:
        self.unsent = 0
        self.dead = False
        self._fd = fd
        self._room = select.poll()
        self._room.register(fd, select.POLLOUT)
        self._lost = lost
        self._limits = limits or Limits()
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._events_unsent = 0
        self._writing = False
        self._scheduled = False
        self._lagging = False
        self._empty = asyncio.Event()
        self._empty.set()
        self._jobs: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_loop, name="rpc-write", daemon=True)
        self._thread.start()

    @property
    def lagging(self) -> bool:
        """The client is behind: leave out what may be left out."""
        if self._lagging:
            self._lagging = self.unsent > self._limits.recovered
        else:
            self._lagging = self.unsent > self._limits.lagging
        return self._lagging

    def put(self, body: bytes) -> None:
        """Send a reply, a request, a notification that must arrive."""
        self.put_frame(header_frame(body))

    def put_frame(self, data: bytes, *, event: bool = False) -> None:
        """Send a whole frame, made once for many clients; events have a limit of their own."""
        if self.dead:
            return
        self._waiting.append((data, event))
        self.unsent += len(data)
        if event:
            self._events_unsent += len(data)
        if self.unsent > self._limits.total or self._events_unsent > self._limits.events:
            self._give_up(TooFarBehind("the client does not read what it is sent"))
            return
        if not (self._writing or self._scheduled):
            self._empty.clear()
            self._scheduled = True
            self._loop.call_soon(self._hand_over)

    async def flushed(self, seconds: float) -> bool:
        """Wait until all is written, or the client is lost, or the time is over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), seconds)
        return not self.unsent

    def close(self) -> None:
        """Send no more. What is being written is; the descriptor stays its owner's."""
        if not self.dead:
            self._stop()

    def join(self) -> None:
        """Wait for the thread, after `close`; not in the loop."""
        self._thread.join()

    def _hand_over(self) -> None:
        self._scheduled = False
        while self._waiting and not self._writing:
            data = self._joined()
            if len(data) > AT_ONCE or not self._room.poll(0):
                self._writing = True
                self._jobs.put(data)
                return
            try:
                write_all(self._fd, data)
            except OSError as error:
                self._give_up(error)
                return
            self.unsent -= len(data)
        if not self.unsent:
            self._empty.set()

    def _joined(self) -> bytes:
        """The next frames, as many as go into one write."""
        size = 0
        parts: list[bytes] = []
        while self._waiting and (not parts or size + len(self._waiting[0][0]) <= WRITE_SIZE):
            data, event = self._waiting.popleft()
            size += len(data)
            parts.append(data)
            if event:
                self._events_unsent -= len(data)
        return b"".join(parts)

    def _wrote(self, count: int, error: OSError | None) -> None:
        self._writing = False
        if self.dead:
            return
        if error is not None:
            self._give_up(error)
            return
        self.unsent -= count
        self._hand_over()

    def _give_up(self, error: Exception) -> None:
        self._stop()
        self._loop.call_soon(self._lost, error)

    def _stop(self) -> None:
        self.dead = True
        self._waiting.clear()
        self.unsent = self._events_unsent = 0
        self._empty.set()
        self._jobs.put(None)

    def _write_loop(self) -> None:
        while (data := self._jobs.get()) is not None:
            error: OSError | None = None
            try:
                write_all(self._fd, data)
            except OSError as caught:
                error = caught
            try:
                self._loop.call_soon_threadsafe(self._wrote, len(data), error)
            except RuntimeError:  # the loop is closed
                return
