"""Frames are found in any split of a stream, and what is no frame costs only itself."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.rpc.pipes.frames import Defect, Frame, HeaderFrames

PING = b'{"jsonrpc":"2.0","id":9,"method":"ping"}'


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def feed_all(splitter: HeaderFrames, data: bytes, cuts: list[int]) -> list[Frame]:
    found: list[Frame] = []
    edges = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    for start, end in itertools.pairwise(edges):
        found += splitter.feed(data[start:end])
    return found


@given(st.lists(st.binary(max_size=300), max_size=8), st.lists(st.integers(0), max_size=20))
def test_any_split_of_a_stream_gives_the_same_frames(bodies: list[bytes], cuts: list[int]) -> None:
    data = b"".join(framed(body) for body in bodies)
    assert feed_all(HeaderFrames(), data, cuts) == bodies


@pytest.mark.parametrize(
    "head",
    [
        b"content-length:%d\r\n\r\n",
        b"CONTENT-LENGTH : %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX: y\r\n\r\n",
        b"\r\nContent-Length: %d\r\n\r\n",
        b"some library's banner\nContent-Length: %d\r\n\r\n",
        b"Content-Length: \t%d \r\n\r\n",
    ],
)
@pytest.mark.parametrize("step", [1, 1000])
def test_headers_that_are_taken(head: bytes, step: int) -> None:
    data = (head % len(PING) + PING) * 2
    cuts = list(range(0, len(data), step))
    assert feed_all(HeaderFrames(), data, cuts) == [PING, PING]


@pytest.mark.parametrize(
    "value",
    [b"abc", b"", b"-5", b"1.5", b"0x10", b"1073741824", b"99999999999999999999", b"12 13"],
)
def test_a_length_that_is_of_no_use_costs_one_message(value: bytes) -> None:
    lost = b'{"jsonrpc":"2.0","id":"lost","method":"ping"}'
    data = b"Content-Length: %b\r\n\r\n%b" % (value, lost)
    defect, ping = HeaderFrames().feed(data + framed(PING))
    assert isinstance(defect, Defect)
    assert (defect.id, defect.code) == ("lost", None)
    assert ping == PING


def test_a_missing_length_is_told_before_anything_follows() -> None:
    splitter = HeaderFrames()
    (defect,) = splitter.feed(b"Content-Type: x\r\n\r\n")
    assert isinstance(defect, Defect)
    assert defect.id is None
    assert splitter.feed(PING + framed(PING)) == [PING]


@given(st.lists(st.integers(0), max_size=20))
def test_a_message_that_is_too_large_is_skipped_and_its_request_named(cuts: list[int]) -> None:
    large = b'{"jsonrpc":"2.0","method":"m","id":7,"params":"%b"}' % (b"x" * 3000)
    data = framed(PING) + framed(large) + framed(PING)
    first, defect, last = feed_all(HeaderFrames(1000), data, cuts)
    assert (first, last) == (PING, PING)
    assert isinstance(defect, Defect)
    assert (defect.id, defect.code, defect.answer) == (7, "message_too_large", False)


def test_an_answer_that_is_too_large_is_known_as_one() -> None:
    large = b'{"jsonrpc":"2.0","id":"d1","result":"%b"}' % (b"x" * 3000)
    (defect,) = HeaderFrames(1000).feed(framed(large))
    assert isinstance(defect, Defect)
    assert (defect.id, defect.answer) == ("d1", True)


def test_a_client_that_writes_lines_is_told_so_at_once() -> None:
    (defect,) = HeaderFrames().feed(PING + b"\n")
    assert isinstance(defect, Defect)
    assert defect.id == 9
    assert "Content-Length" in defect.message


def test_a_body_without_a_header_before_a_frame() -> None:
    defect, ping = HeaderFrames().feed(PING + framed(PING))
    assert isinstance(defect, Defect)
    assert (defect.id, ping) == (9, PING)


def test_a_length_that_is_too_short_costs_the_message_only() -> None:
    data = b"Content-Length: %d\r\n\r\n%b" % (len(PING) - 4, PING)
    cut, ping = HeaderFrames().feed(data + framed(PING))
    assert (cut, ping) == (PING[:-4], PING)


def test_noise_without_an_end_is_given_up() -> None:
    splitter = HeaderFrames()
    (defect,) = splitter.feed(b"x" * 10_000)
    assert isinstance(defect, Defect)
    assert splitter.feed(b"y" * 100_000 + framed(PING)) == [PING]


def test_a_large_body_in_small_pieces() -> None:
    body = b"x" * (4 << 20)
    splitter = HeaderFrames()
    data = framed(body)
    found = [f for at in range(0, len(data), 65536) for f in splitter.feed(data[at : at + 65536])]
    assert found == [body]
