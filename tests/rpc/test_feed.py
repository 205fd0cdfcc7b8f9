"""Events numbered and replayed, deltas joined and whole, slow clients passed over."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.rpc.limits import MAX_DELTA
from singletree.rpc.telling.feed import HELD_BYTES, Cursor, Delivery, Feed


class Ear:
    """A client in memory, which may be slow."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.data: list[bytes] = []
        self.lagging = False

    def put_frame(self, data: bytes, *, event: bool = False) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        assert head == b"Content-Length: %d" % len(body)
        frame = json.loads(body)
        assert (frame["method"] == "agent/event") == event
        self.data.append(data)
        self.frames.append(frame)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [f["params"] for f in self.frames if f["method"] == "agent/event"]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [f["params"] for f in self.frames if f["method"] == "agent/delta"]


def listen(feed: Feed, delivery: Delivery | None = None, since: Cursor | None = None) -> Ear:
    ear = Ear()
    feed.attach(ear, delivery or Delivery(), since).subscription.release()
    return ear


def whole(deltas: list[dict[str, Any]]) -> str:
    """The text, if no counter tells of a hole."""
    at = 0
    for delta in deltas:
        assert delta["from"] == at
        assert delta["to"] >= at
        at = delta["to"]
    return "".join(delta["text"] for delta in deltas)


async def test_what_is_kept_for_a_late_reply_is_bounded() -> None:
    feed, ear = Feed("s"), Ear()
    subscription = feed.attach(ear, Delivery()).subscription
    feed.emit_event({"type": "warning", "message": "x"})
    assert ear.events == []
    count = 1
    while not ear.events:
        feed.emit_event({"type": "warning", "message": "x" * 1000})
        count += 1
    assert HELD_BYTES < sum(map(len, ear.data)) < HELD_BYTES + 2000
    subscription.release()
    feed.emit_event({"type": "settled"})
    assert [event["seq"] for event in ear.events] == list(range(1, count + 2))


async def test_an_event_on_the_wire() -> None:
    feed = Feed("s\u2028", now=lambda: 1.5)
    ear = listen(feed)
    assert feed.emit_event({"type": "settled"}) == 1
    assert ear.events == [
        {
            "sessionId": "s\u2028",
            "epoch": feed.epoch,
            "seq": 1,
            "ts": 1500,
            "event": {"type": "settled"},
        }
    ]


async def test_a_delta_on_the_wire() -> None:
    feed = Feed("s")
    ear = listen(feed)
    feed.emit_event({"type": "settled"})
    feed.emit_delta("i", "text", 2, 0, 'a"\u2028\ud83d')
    feed.flush()
    assert ear.deltas == [
        {
            "sessionId": "s",
            "after": 1,
            "itemId": "i",
            "kind": "text",
            "part": 2,
            "from": 0,
            "to": 1,
            "text": 'a"\u2028\ufffd',
        }
    ]


async def test_an_event_is_encoded_once_and_deltas_once_a_lane() -> None:
    feed = Feed("s")
    one, two = listen(feed), listen(feed)
    feed.emit_delta("i", "text", 0, 0, "x")
    feed.emit_event({"type": "settled"})
    assert [a is b for a, b in zip(one.data, two.data, strict=True)] == [True, True]


async def test_what_waits_leaves_before_any_event() -> None:
    feed = Feed("s")
    ear = listen(feed)
    feed.emit_delta("i", "text", 0, 0, "a")
    feed.emit_delta("i", "text", 0, 1, "b")
    feed.emit_delta("i", "thinking", 1, 0, "c")
    feed.emit_event({"type": "item_ended", "itemId": "i"})
    told = [f["params"].get("text", "event") for f in ear.frames]
    assert told == ["a", "b", "c", "event"]


async def test_the_first_piece_leaves_at_once_and_the_last_by_itself() -> None:
    feed = Feed("s")
    ear = listen(feed, Delivery(latency=0.02))
    feed.emit_delta("i", "text", 0, 0, "a")
    assert len(ear.deltas) == 1
    feed.emit_delta("i", "text", 0, 1, "b")
    feed.emit_delta("i", "text", 0, 2, "c")
    assert len(ear.deltas) == 1
    await asyncio.sleep(0.05)
    assert [d["text"] for d in ear.deltas] == ["a", "bc"]


async def test_many_deltas_are_whole_and_few() -> None:
    feed = Feed("s")
    loop = asyncio.get_running_loop()
    fast, slow = listen(feed, Delivery(latency=0.033)), listen(feed, Delivery(latency=0.2))
    deaf = listen(feed, Delivery(deltas=False))
    begun = loop.time()
    for chunk in range(20_000):
        feed.emit_delta("i", "text", 0, chunk, f"piece {chunk}, ")
        if chunk % 50 == 0:
            await asyncio.sleep(0)
    feed.emit_event({"type": "item_ended"})
    took = loop.time() - begun
    text = "".join(f"piece {chunk}, " for chunk in range(20_000))
    for ear, latency in ((fast, 0.033), (slow, 0.2)):
        assert whole(ear.deltas) == text
        assert len(ear.deltas) <= 1 + took / latency + len(text) / MAX_DELTA + 1
        assert all(len(d["text"]) <= MAX_DELTA for d in ear.deltas)
    assert deaf.deltas == []
    assert len(deaf.events) == 1


@given(
    st.lists(
        st.one_of(
            st.text(max_size=5),
            st.just("😀" * 30_000),
            st.just("é" * 100_000),
            st.just("x" * 40_000),
        ),
        max_size=12,
    )
)
def test_joined_deltas_equal_the_pieces(pieces: list[str]) -> None:
    async def go() -> None:
        feed = Feed("s")
        ear = listen(feed, Delivery(latency=10))
        for chunk, piece in enumerate(pieces):
            feed.emit_delta("i", "toolOutput", 0, chunk, piece)
        feed.flush()
        assert whole(ear.deltas) == "".join(pieces)
        assert all(len(d["text"].encode()) <= MAX_DELTA for d in ear.deltas)

    asyncio.run(go())


async def test_a_client_that_lags_is_passed_over_and_told_once() -> None:
    feed = Feed("s")
    slow, quick = listen(feed, Delivery(latency=0)), listen(feed, Delivery(latency=0))
    feed.emit_delta("i", "text", 0, 0, "a")
    slow.lagging = True
    for chunk in (1, 2):
        feed.emit_delta("i", "text", 0, chunk, "b")
        await asyncio.sleep(0)
    slow.lagging = False
    feed.emit_delta("i", "text", 0, 3, "c")
    feed.emit_event({"type": "item_ended"})
    assert [(d["from"], d["to"]) for d in slow.deltas] == [(0, 1), (3, 4)]
    assert whole(quick.deltas) == "abbc"
    for ear in (slow, quick):
        assert [e["seq"] for e in ear.events] == [1, 2]
        assert [e["event"].get("code") for e in ear.events] == ["lagging", None]


async def test_a_replay_is_what_was_missed() -> None:
    feed = Feed("s")
    first = listen(feed)
    for n in range(5):
        feed.emit_event({"type": "entry", "n": n})
    attached = feed.attach(Ear(), Delivery(), Cursor(feed.epoch, 2))
    assert attached.replay is not None
    assert [json.loads(params) for params in attached.replay] == first.events[2:]
    assert attached.cursor == Cursor(feed.epoch, 5)
    up_to_date = feed.attach(Ear(), Delivery(), attached.cursor)
    assert up_to_date.replay == ()


@pytest.mark.parametrize("seq", [-1, 0, 6, 10])
async def test_a_cursor_that_cannot_be_served_gets_a_snapshot(seq: int) -> None:
    feed = Feed("s", ring_events=3)
    for n in range(5):
        feed.emit_event({"type": "entry", "n": n})
    assert feed.attach(Ear(), Delivery(), Cursor(feed.epoch, seq)).replay is None
    assert feed.attach(Ear(), Delivery(), Cursor("another life", 4)).replay is None
    assert feed.attach(Ear(), Delivery()).replay is None
    served = feed.attach(Ear(), Delivery(), Cursor(feed.epoch, 2)).replay
    assert served is not None
    assert len(served) == 3


async def test_the_ring_is_bounded_in_bytes() -> None:
    feed = Feed("s", ring_bytes=10_000)
    for n in range(100):
        feed.emit_event({"type": "entry", "n": n, "text": "x" * 1000})
    attached = feed.attach(Ear(), Delivery(), Cursor(feed.epoch, 92))
    assert attached.replay is not None
    assert feed.attach(Ear(), Delivery(), Cursor(feed.epoch, 80)).replay is None


async def test_events_of_some_kinds_only() -> None:
    feed = Feed("s")
    delivery = Delivery(kinds=frozenset({"turn_ended"}))
    ear = listen(feed, delivery)
    for kind in ("turn_started", "turn_ended", "settled"):
        feed.emit_event({"type": kind})
    assert [e["seq"] for e in ear.events] == [2]
    replay = feed.attach(Ear(), delivery, Cursor(feed.epoch, 0)).replay
    assert replay is not None
    assert [json.loads(p)["seq"] for p in replay] == [2]


async def test_nothing_is_heard_before_the_release_and_nothing_is_lost() -> None:
    feed = Feed("s")
    feed.emit_delta("i", "text", 0, 0, "before ")
    ear = Ear()
    attached = feed.attach(ear, Delivery(latency=0))
    feed.emit_delta("i", "text", 0, 1, "after")
    feed.emit_event({"type": "settled"})
    assert ear.frames == []
    attached.subscription.release()
    feed.emit_event({"type": "settled"})
    assert [d["text"] for d in ear.deltas] == ["after"]
    assert [e["seq"] for e in ear.events] == [1, 2]


async def test_a_late_client_hears_deltas_from_where_it_came() -> None:
    feed = Feed("s")
    early = listen(feed, Delivery(latency=5))
    feed.emit_delta("i", "text", 0, 0, "a")
    feed.emit_delta("i", "text", 0, 1, "b")
    late = listen(feed, Delivery(latency=5))
    feed.emit_delta("i", "text", 0, 2, "c")
    feed.flush()
    assert whole(early.deltas) == "abc"
    assert [(d["from"], d["to"], d["text"]) for d in late.deltas] == [(2, 3, "c")]


async def test_a_closed_ear_hears_no_more() -> None:
    feed = Feed("s")
    ear = Ear()
    subscription = feed.attach(ear, Delivery()).subscription
    subscription.release()
    feed.emit_delta("i", "text", 0, 0, "a")
    feed.emit_delta("i", "text", 0, 1, "b")
    subscription.close()
    subscription.close()
    feed.emit_delta("i", "text", 0, 2, "c")
    feed.emit_event({"type": "settled"})
    await asyncio.sleep(0.05)
    assert len(ear.frames) == 1
