"""Streamed text on its way to clients that take it at the same pace: pieces joined, encoded once.

The first piece leaves at once, then at most one notification of a part in `latency` seconds;
sooner when 64 KiB have gathered. Chunk counters `from..to` are half-open; a notification that had
to be cut inside a chunk ends before it, and the next begins with it, so that a client which
compares `from` with the last `to` sees no hole where there is none. A member that lags is passed
over. Keeps no text longer than that. Never knows a session. Read next: feed.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from singletree.rpc.limits import MAX_DELTA
from singletree.rpc.pipes.codec import encode_text
from singletree.rpc.pipes.frames import header_frame

Key = tuple[str, str, int]


class Sink(Protocol):
    """Where frames go: an outbox, or a subscription on one."""

    @property
    def lagging(self) -> bool:
        """It is behind: leave out what may be left out."""
        ...

    def put_frame(self, data: bytes, *, event: bool = False) -> None:
        """Send a frame."""
        ...


@dataclass(slots=True)
class _Waiting:
    head: bytes
    start: int
    end: int
    size: int = 0
    pieces: list[str] = field(default_factory=list)


class Lane:
    """The clients of one session with one latency. `lagging(member)`: a member missed something."""

    def __init__(
        self,
        latency: float,
        session: bytes,
        seq: Callable[[], int],
        lagging: Callable[[Sink], None],
    ) -> None:
        self.members: list[Sink] = []
        self._latency = latency
        self._session = session
        self._seq = seq
        self._lagging = lagging
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Key, _Waiting] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last = float("-inf")

    def add(self, key: Key, chunk: int, text: str) -> None:
        """A piece more of a part."""
        waiting = self._waiting.get(key)
        if waiting is None or waiting.end != chunk:
            if waiting is not None:
                self._send(self._waiting.pop(key))
            waiting = self._waiting[key] = _Waiting(self._head(key), chunk, chunk)
        waiting.pieces.append(text)
        waiting.end = chunk + 1
        waiting.size += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if waiting.size >= MAX_DELTA:
            self._send_full(waiting)
        if self._timer is None:
            wait = self._last + self._latency - self._loop.time()
            if wait <= 0:
                self.flush()
            else:
                self._timer = self._loop.call_later(wait, self.flush)

    def flush(self) -> None:
        """Send all that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            self._last = self._loop.time()
            for part in waiting.values():
                self._send(part)

    def close(self) -> None:
        """Nobody listens any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()

    def _head(self, key: Key) -> bytes:
        item_id, kind, part = key
        return b'"itemId":%b,"kind":%b,"part":%d,"from":' % (
            encode_text(item_id),
            encode_text(kind),
            part,
        )

    def _send_full(self, waiting: _Waiting) -> None:
        """Send as many whole 64 KiB as there are; the last chunk may be cut between two of them."""
        data = "".join(waiting.pieces).encode(errors="surrogatepass")
        at = 0
        while len(data) - at >= MAX_DELTA:
            cut = at + MAX_DELTA
            while cut < len(data) and data[cut] & 0xC0 == 0x80:
                cut -= 1
            end = waiting.end if cut == len(data) else waiting.end - 1
            text = data[at:cut].decode(errors="surrogatepass")
            self._send(_Waiting(waiting.head, waiting.start, end, pieces=[text]))
            waiting.start, at = end, cut
        waiting.size = len(data) - at
        waiting.pieces = [data[at:].decode(errors="surrogatepass")] if waiting.size else []

    def _send(self, waiting: _Waiting) -> None:
        if not waiting.pieces:
            return
        body = b'{"jsonrpc":"2.0","method":"agent/delta","params":{"sessionId":%b,"after":%d,' % (
            self._session,
            self._seq(),
        )
        text = encode_text("".join(waiting.pieces))
        body += b'%b%d,"to":%d,"text":%b}}' % (waiting.head, waiting.start, waiting.end, text)
        data = header_frame(body)
        for member in tuple(self.members):
            if member.lagging:
                self._loop.call_soon(self._lagging, member)
            else:
                member.put_frame(data)
