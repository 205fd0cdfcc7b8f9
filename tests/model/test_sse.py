"""Server-sent events: every line end, every cut, comments and dialects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.model.sse import ServerEvent, SSEDecoder


def decode(*pieces: bytes) -> list[ServerEvent]:
    decoder = SSEDecoder()
    return [e for piece in pieces for e in decoder.feed(piece)] + decoder.close()


def every_cut(data: bytes) -> list[list[ServerEvent]]:
    whole = [decode(data), decode(*(data[i : i + 1] for i in range(len(data))))]
    return whole + [decode(data[:i], data[i:]) for i in range(len(data) + 1)]


@pytest.mark.parametrize(
    ("data", "events"),
    [
        ("data: a\n\n", [("", "a")]),
        ("data:a\n\n", [("", "a")]),
        ("data:  a\n\n", [("", " a")]),
        ("data: a\r\n\r\n", [("", "a")]),
        ("data: a\r\r", [("", "a")]),
        ("data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
        ("data: a\ndata: b\n\n", [("", "a\nb")]),
        ("event: e\ndata: a\n\ndata: b\n\n", [("e", "a"), ("", "b")]),
        ("event: e\n\ndata: b\n\n", [("", "b")]),
        (": hello\n\n:\ndata: a\n: x\ndata: b\n\n", [("", "a\nb")]),
        ("data:\n\ndata\n\n", [("", ""), ("", "")]),
        ("id: 1\nretry: 3\nnonsense\ndata: a\n\n", [("", "a")]),
        ("data: a", [("", "a")]),
        ("data: a\n", [("", "a")]),
        ("\ufeffdata: a\n\n", [("", "a")]),
        ("data: a\u2028b\u0085c\x0cd\x0be\x1cf\n\n", [("", "a\u2028b\u0085c\x0cd\x0be\x1cf")]),
        ("data: 價格🙂\n\n", [("", "價格🙂")]),
        ("\n\n\r\n", []),
        ("", []),
    ],
)
def test_every_cut_gives_the_same_events(data: str, events: list[tuple[str, str]]) -> None:
    for given_events in every_cut(data.encode()):
        assert given_events == events


PARTS = [
    b"data: ",
    b"data:",
    b"event: x",
    b": c",
    b"\n",
    b"\r",
    b"\r\n",
    b"{}",
    "é🙂".encode(),
    b"",
]


@given(st.lists(st.sampled_from(PARTS), max_size=20), st.data())
def test_any_split_of_any_stream(parts: list[bytes], draw: st.DataObject) -> None:
    data = b"".join(parts)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=6)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert decode(*pieces) == decode(data)


def test_bytes_that_are_no_utf8_become_marks() -> None:
    assert decode(b"data: a\xffb\n\n") == [("", "a\ufffdb")]


def test_what_waits_for_its_end_is_counted() -> None:
    decoder = SSEDecoder()
    for _ in range(100):
        decoder.feed(b"data: x\n")
    assert decoder.waiting == 800
    assert len(decoder.feed(b"\ndata: y")) == 1
    assert decoder.waiting == 7
    decoder.feed(b"\r\n\r\n")
    assert decoder.waiting == 0
