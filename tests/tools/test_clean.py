"""Bytes of programs become text that can be stored and sent, wherever the stream is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.clean import Cleaner, clean

CASES = {
    b"plain\n": "plain\n",
    b"a\0b\033[31mred\033[0m\xff\xfe\r50%\r100%\n": "abred\ufffd\ufffd\n100%\n",
    b"\033[1;31mred\033[0m x\033]0;title\007y\n": "red xy\n",
    b"\033]8;;http://x\033\\link\033]8;;\033\\\n": "link\n",
    b"10%\r50%\r100%\r\ndone\r\n": "10%\n100%\ndone\n",
    b"  \r1/2\r2/2\n3/4\r4/4\n": "1/2\n2/2\n3/4\n4/4\n",
    b"half a line\r": "half a line",
    b"spinner |\r": "spinner |",
    b"\r\rx\n": "x\n",
    b"one\r\r\ntwo": "one\ntwo",
    b"abc\033": "abc",
    b"abc\033]0;title": "abc",
    b"\033]broken\nnext\n": "broken\nnext\n",
    b"\033Pq#0;1\033\\after": "after",
    b"\033(B\033=x\033>": "x",
    b"\x9b31mred": "\ufffd31mred",
    "c1: \u009b31mred\u0090\n".encode(): "c1: red\n",
    b"\xe6\x95": "\ufffd",
    "数🙂\n".encode(): "数🙂\n",
    b"tab\there\x0b\x0c\x07\n": "tab\there\n",
    b"": "",
}


@pytest.mark.parametrize(("given", "wanted"), CASES.items(), ids=repr)
def test_what_is_left(given: bytes, wanted: str) -> None:
    assert clean(given) == wanted


PIECES = st.sampled_from(
    b"text ,\n,\r,\r\n,\033,[31m,\033]0;t\007,\xe6\x95\xb0,\xff,\033P,\033\\,\007,\0,],(B".split(
        b","
    )
)


@given(st.lists(PIECES, max_size=30), st.lists(st.integers(0, 200), max_size=8))
def test_any_split_gives_the_same_text(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    cleaner = Cleaner()
    got = ""
    last = 0
    for cut in [*sorted(cuts), len(data)]:
        got += cleaner.feed(data[last:cut])
        last = max(last, min(cut, len(data)))
    got += cleaner.close()
    assert got == clean(data)


@given(st.binary(max_size=400))
def test_nothing_unsendable_is_left(data: bytes) -> None:
    text = clean(data)
    assert json.loads(json.dumps(text).encode()) == text
    text.encode()
    assert not set(text) & {"\0", "\033", "\r"}


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), max_size=200))
def test_plain_text_passes_unchanged(text: str) -> None:
    assert clean(text.encode()) == text


def test_a_long_unfinished_line_is_let_through() -> None:
    cleaner = Cleaner()
    got = "".join(cleaner.feed(b"x" * 50_000) for _ in range(4))
    assert len(got) >= 100_000
    assert got + cleaner.close() == "x" * 200_000


def test_the_unfinished_line_can_be_seen() -> None:
    cleaner = Cleaner()
    assert cleaner.feed(b"one\n50%\r60") == "one\n50%\n"
    assert cleaner.pending == "60"
