"""Cuts keep both limits and whole characters; the stream's tail equals the whole text's tail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.accumulator import Accumulator
from singletree.tools.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Cut,
    clip_head,
    clip_tail,
    cut_line,
    keep_head,
    notice,
)

TEXTS = st.text(alphabet=st.sampled_from("ab\n\n\r é数🙂\u2028\u0301\ud83d"), max_size=60)
LINES = st.integers(1, 12)
SIZES = st.integers(4, 80)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def check_limits(cut: Cut, text: str, lines: int, bound: int) -> None:
    assert size(cut.text) <= bound
    assert cut.text.removesuffix("\n").count("\n") < lines
    assert cut.text in text
    assert cut.total_bytes == size(text)
    source = text.removesuffix("\n").split("\n") if text else []
    assert cut.total_lines == len(source)
    if cut.by is None:
        assert cut.text in (text, text.removesuffix("\n"))
    elif cut.partial:
        assert cut.first == cut.last
        assert cut.text and cut.text in source[cut.first - 1]
    else:
        assert cut.text == "\n".join(source[cut.first - 1 : cut.last])


@given(TEXTS, LINES, SIZES)
def test_head_keeps_both_limits_and_as_much_as_fits(text: str, lines: int, bound: int) -> None:
    cut = keep_head(text, lines, bound)
    check_limits(cut, text, lines, bound)
    if cut.by is None:
        return
    assert text.startswith(cut.text) and cut.first == 1
    source = text.split("\n")
    if cut.partial:
        assert size(source[0][: len(cut.text) + 1]) > bound
    elif cut.by == "bytes":
        assert size("\n".join(source[: cut.last + 1])) > bound
    else:
        assert cut.lines == lines < cut.total_lines


def tail(text: str, lines: int, bound: int) -> Cut:
    """The last lines of a whole text."""
    held = Accumulator(lines, bound)
    held.add(text)
    return held.cut()


@given(TEXTS, LINES, SIZES)
def test_tail_keeps_both_limits_and_as_much_as_fits(text: str, lines: int, bound: int) -> None:
    cut = tail(text, lines, bound)
    check_limits(cut, text, lines, bound)
    if cut.by is None:
        return
    source = text.removesuffix("\n").split("\n")
    assert "\n".join(source).endswith(cut.text) and cut.last == cut.total_lines
    if cut.partial:
        assert size(source[-1][-len(cut.text) - 1 :]) > bound
    elif cut.by == "bytes":
        assert size("\n".join(source[cut.first - 2 :])) > bound
    else:
        assert cut.lines == lines < cut.total_lines


@given(TEXTS, LINES, SIZES, st.lists(st.integers(1, 7), max_size=200))
def test_a_stream_in_any_pieces_is_cut_like_its_whole(
    text: str, lines: int, bound: int, steps: list[int]
) -> None:
    held, at = Accumulator(lines, bound), 0
    for step in steps:
        held.add(text[at : at + step])
        at += step
    held.add(text[at:])
    assert held.cut() == tail(text, lines, bound)
    assert held.overflowed == (held.total_lines > lines or held.total_bytes > bound)


def test_a_stream_without_end_holds_no_more_than_it_may_show() -> None:
    held = Accumulator(lines=100, size=1000)
    for _ in range(2000):
        held.add("x" * 997 + "\n")
    assert held.total_bytes == 2000 * 998
    assert len(held._tail) < 4000
    assert held.cut().text == "x" * 997


@given(st.binary(max_size=40), st.integers(0, 40))
def test_clips_of_text_are_text(noise: bytes, bound: int) -> None:
    data = noise.decode("utf-8", "replace").encode()
    for clip, rest in ((clip_head(data, bound), data), (clip_tail(data, bound), data)):
        assert len(clip) <= bound or len(clip) == len(rest) <= bound
        clip.decode()


def test_a_line_for_a_list_is_cut_with_word() -> None:
    assert cut_line("short") == ("short", False)
    kept, was_cut = cut_line("🙂" * 300)
    assert was_cut and kept == "🙂" * 250


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (keep_head("a\nb\n"), ""),
        (
            keep_head("a\nb\nc\n", lines=2),
            "[Cut: 3 lines, 6B in all. Shown: lines 1-2. All of it: /tmp/x]",
        ),
        (
            tail("a\nb\nc\n", 2, MAX_BYTES),
            "[Cut: 3 lines, 6B in all. Shown: lines 2-3. All of it: /tmp/x]",
        ),
        (
            tail("x" * 3000, MAX_LINES, 2048),
            "[Cut: 1 line, 2.9KB in all. Shown: the last 2.0KB of line 1. All of it: /tmp/x]",
        ),
        (
            keep_head("x" * 3000 + "\ny", size=2048),
            "[Cut: 2 lines, 2.9KB in all. Shown: the first 2.0KB of line 1. All of it: /tmp/x]",
        ),
    ],
)
def test_the_notice_says_how_big_what_is_shown_and_where_the_rest_is(cut: Cut, said: str) -> None:
    assert notice(cut, "/tmp/x") == said
    assert notice(cut) == said.replace(" All of it: /tmp/x", "")
