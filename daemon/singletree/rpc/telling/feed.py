"""What one session tells its clients: numbered events that are kept, deltas that are joined.

An event gets the next number, is encoded once for all who listen, and stays in a ring for those who
come back: a client that attaches with the cursor it had hears exactly what it missed, or is told to
take a snapshot; never a silent hole. A delta goes to its lane, where pieces are joined for as long
as the clients in it allow, and leaves before any event. A client that lags misses deltas and nobody
waits for it. Works on plain data; knows no session and no text of the past (translate.py has what
is in flight). Never awaits. Read next: lane.py, ../pipes/outbox.py.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from singletree.rpc.limits import RING_EVENTS
from singletree.rpc.pipes.codec import Encoded, encode, encode_text
from singletree.rpc.pipes.frames import header_frame
from singletree.rpc.telling.lane import Lane, Sink

RING_BYTES: Final = 4 << 20
HELD_BYTES: Final = 1 << 20
LAGGING: Final = "A client reads too slowly: some of the streamed text was left out for it."


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a feed: `epoch` names the feed's life, `seq` the last event that was heard."""

    epoch: str
    seq: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a client wants: deltas or none, joined for how long (seconds), which events."""

    deltas: bool = True
    latency: float = 0.033
    kinds: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """What a client gets when it attaches.

    `replay`: the params of the events it missed, encoded; None: it needs a snapshot, taken in this
    same turn of the loop.
    """

    subscription: Subscription
    cursor: Cursor
    replay: tuple[Encoded, ...] | None


class Subscription:
    """One client's. Silent until `release`, so that nothing overtakes the reply to attach.

    A reply that is so late that much would have to be kept for it is overtaken.
    """

    def __init__(self, sink: Sink, delivery: Delivery, end: Callable[[Subscription], None]) -> None:
        self.delivery = delivery
        self._sink = sink
        self._end = end
        self._held: list[tuple[bytes, bool]] | None = []
        self._held_bytes = 0
        self._closed = False

    @property
    def lagging(self) -> bool:
        """It is behind: deltas are left out for it."""
        return self._sink.lagging

    def put_frame(self, data: bytes, *, event: bool = False) -> None:
        """Send a frame, or keep it until the release."""
        if self._closed:
            return
        if self._held is None:
            self._sink.put_frame(data, event=event)
        else:
            self._held.append((data, event))
            self._held_bytes += len(data)
            if self._held_bytes > HELD_BYTES:
                self.release()

    def release(self) -> None:
        """The reply is out: send what was kept, and from now on everything at once."""
        held, self._held = self._held or [], None
        for data, event in held:
            self._sink.put_frame(data, event=event)

    def close(self) -> None:
        """Hear no more, not even what was kept."""
        self._closed = True
        self._held = None
        self._end(self)


class Feed:
    """The events and deltas of one session, for as long as it lives in memory."""

    def __init__(
        self,
        session_id: str,
        *,
        ring_events: int = RING_EVENTS,
        ring_bytes: int = RING_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.epoch = secrets.token_hex(8)
        self.seq = 0
        self._head = b'{"sessionId":%b,"epoch":%b,"seq":' % (
            encode_text(session_id),
            encode_text(self.epoch),
        )
        self._session = encode_text(session_id)
        self._now = now
        self._ring: deque[tuple[str, Encoded]] = deque()
        self._ring_events = ring_events
        self._ring_bytes = ring_bytes
        self._bytes = 0
        self._subscriptions: list[Subscription] = []
        self._lanes: dict[float, Lane] = {}
        self._warned: set[Sink] = set()

    @property
    def cursor(self) -> Cursor:
        """Where the feed is now."""
        return Cursor(self.epoch, self.seq)

    def emit_event(self, event: Mapping[str, object]) -> int:
        """Tell everybody; the event's number. Deltas that wait leave before it."""
        self.flush()
        self.seq += 1
        stamp = round(self._now() * 1000)
        params = Encoded(b'%b%d,"ts":%d,"event":%b}' % (self._head, self.seq, stamp, encode(event)))
        kind = str(event["type"])
        self._keep(kind, params)
        data = header_frame(b'{"jsonrpc":"2.0","method":"agent/event","params":%b}' % params)
        for subscription in self._subscriptions:
            if _wants(subscription.delivery, kind):
                subscription.put_frame(data, event=True)
        return self.seq

    def emit_delta(self, item_id: str, kind: str, part: int, chunk: int, text: str) -> None:
        """Tell a piece of text early: the `chunk`-th of this part, counted from 0."""
        for lane in self._lanes.values():
            lane.add((item_id, kind, part), chunk, text)

    def flush(self) -> None:
        """Send what waits to be joined."""
        for lane in self._lanes.values():
            lane.flush()

    def attach(self, sink: Sink, delivery: Delivery, since: Cursor | None = None) -> Attached:
        """Let a client hear everything from now on, and what it missed if that is still known."""
        self.flush()
        subscription = Subscription(sink, delivery, self._detach)
        self._subscriptions.append(subscription)
        if delivery.deltas:
            lane = self._lanes.get(delivery.latency)
            if lane is None:
                lane = Lane(delivery.latency, self._session, lambda: self.seq, self._lagging)
                self._lanes[delivery.latency] = lane
            lane.members.append(subscription)
        return Attached(subscription, self.cursor, self._missed(delivery, since))

    def _missed(self, delivery: Delivery, since: Cursor | None) -> tuple[Encoded, ...] | None:
        if since is None or since.epoch != self.epoch:
            return None
        count = self.seq - since.seq
        if not 0 <= count <= len(self._ring):
            return None
        missed = list(self._ring)[len(self._ring) - count :]
        return tuple(params for kind, params in missed if _wants(delivery, kind))

    def _keep(self, kind: str, params: Encoded) -> None:
        self._ring.append((kind, params))
        self._bytes += len(params)
        while len(self._ring) > self._ring_events or self._bytes > self._ring_bytes:
            self._bytes -= len(self._ring.popleft()[1])

    def _detach(self, subscription: Subscription) -> None:
        if subscription not in self._subscriptions:
            return
        self._subscriptions.remove(subscription)
        self._warned.discard(subscription)
        latency = subscription.delivery.latency
        if (lane := self._lanes.get(latency)) and subscription in lane.members:
            lane.members.remove(subscription)
            if not lane.members:
                lane.close()
                del self._lanes[latency]

    def _lagging(self, member: Sink) -> None:
        """Told once for each client, and to all: events have no private numbers."""
        if member in self._subscriptions and member not in self._warned:
            self._warned.add(member)
            self.emit_event({"type": "warning", "code": "lagging", "message": LAGGING})


def _wants(delivery: Delivery, kind: str) -> bool:
    return delivery.kinds is None or kind in delivery.kinds
