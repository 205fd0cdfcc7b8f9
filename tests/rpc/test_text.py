"""Edits by ranges, against a reference that does the same the slow and plain way."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.rpc.buffers.text import Encoding, Position, Text, index, split_lines, units

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
LETTERS = st.sampled_from([*"ab\r\n\n\r", "\r\n", "é", "€", "😀", "\u2028", "\u0085", "\x0c", ""])
SNIPPET = st.lists(LETTERS, max_size=12).map("".join)
PLACE = st.tuples(st.integers(0, 12), st.integers(0, 14))


def slow_lines(text: str) -> list[str]:
    return re.findall(r".*?(?:\r\n|\n|\r|\Z)", text, re.DOTALL)[: 1 + len(ENDS.findall(text))]


ENDS = re.compile(r"\r\n|\n|\r")


def slow_offset(text: str, position: Position, encoding: Encoding) -> int:
    """The offset of a position, by taking LSP's words one by one."""
    number, character = position
    lines = slow_lines(text)
    if number >= len(lines):
        return len(text)
    content = ENDS.sub("", lines[number])
    before = sum(map(len, lines[:number]))
    room = character
    for at, letter in enumerate(content):
        room -= len(letter.encode(CODECS[encoding])) // WIDTHS[encoding]
        if room < 0:
            return before + at
    return before + len(content)


def slow_replace(text: str, start: Position, end: Position, new: str, encoding: Encoding) -> str:
    low, high = sorted((slow_offset(text, start, encoding), slow_offset(text, end, encoding)))
    return text[:low] + new + text[high:]


@given(SNIPPET, st.lists(st.tuples(PLACE, PLACE, SNIPPET), max_size=8), st.sampled_from(ENCODINGS))
def test_edits_are_those_of_the_reference(
    given_text: str, edits: list[tuple[Position, Position, str]], encoding: Encoding
) -> None:
    text, slow = Text(given_text), given_text
    for start, end, new in edits:
        before = text.copy()
        text.replace(start, end, new, encoding)
        assert str(before) == slow
        slow = slow_replace(slow, start, end, new, encoding)
        assert str(text) == slow
        assert text.line_count == len(slow_lines(slow))
        assert [text.line(n) for n in range(text.line_count)] == slow_lines(slow)


@given(st.integers(0, 2**32))
def test_edits_of_a_long_text_are_those_of_the_reference(seed: int) -> None:
    """Long enough for many blocks, with edits that make, join and empty them."""
    chance = random.Random(seed)
    slow = "".join(f"line {n}" + chance.choice(["\n", "\r\n", "\r"]) for n in range(3000))
    text = Text(slow)
    for _ in range(12):
        start = (chance.randrange(text.line_count + 1), chance.randrange(8))
        end = (start[0] + chance.choice([0, 0, 1, 5, 600, 2000]), chance.randrange(8))
        new = chance.choice(["", "x", "\n", "\r", "a\nb\n", "y\r\n" * 700])
        slow = slow_replace(slow, start, end, new, "utf-16")
        text.replace(start, end, new, "utf-16")
        assert str(text) == slow
        assert text.line_count == len(split_lines(slow))
        number = chance.randrange(text.line_count)
        assert text.line(number) == split_lines(slow)[number]


@given(SNIPPET, st.sampled_from(ENCODINGS))
def test_positions_and_offsets_agree(given_text: str, encoding: Encoding) -> None:
    text = Text(given_text)
    for offset in range(len(given_text) + 1):
        position = text.position(offset, encoding)
        at = slow_offset(given_text, position, encoding)
        assert at == offset or given_text[at:offset] == "\r"


@given(SNIPPET, PLACE, PLACE, st.sampled_from(ENCODINGS))
def test_between(given_text: str, start: Position, end: Position, encoding: Encoding) -> None:
    places = [slow_offset(given_text, p, encoding) for p in (start, end)]
    found = Text(given_text).between(start, end, encoding)
    assert found == given_text[min(places) : max(places)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a\n", ""]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("a\u2028b\u0085c\x0cd\x1ce\nf", ["a\u2028b\u0085c\x0cd\x1ce\n", "f"]),
        ("\r\r\n\n", ["\r", "\r\n", "\n", ""]),
    ],
)
def test_only_three_things_end_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    ("encoding", "character", "at"),
    [
        ("utf-8", 4, 1),
        ("utf-8", 5, 2),
        ("utf-8", 7, 3),
        ("utf-16", 1, 1),
        ("utf-16", 2, 1),
        ("utf-16", 3, 2),
        ("utf-32", 2, 2),
        ("utf-16", 99, 4),
    ],
)
def test_a_character_in_each_encoding(encoding: Encoding, character: int, at: int) -> None:
    assert index("a😀éb", character, encoding) == at


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_lone_surrogate_is_a_character_too(encoding: Encoding) -> None:
    text = Text("a\ud83db\n")
    text.replace((0, units("a\ud83d", encoding)), (0, 99), "c", encoding)
    assert str(text) == "a\ud83dc\n"


def test_an_end_before_the_start_means_the_same_range() -> None:
    text = Text("one two")
    text.replace((0, 7), (0, 4), "2", "utf-16")
    assert str(text) == "one 2"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_storm_of_changes_in_a_long_file() -> None:
    text = Text("".join(f"line {n} of a long file é\n" for n in range(100_000)))
    begun = time.perf_counter()
    for n in range(10_000):
        number = n * 7919 % 100_000
        text.replace((number, 3), (number, 3), "x", "utf-16")
    typed = time.perf_counter() - begun
    for n in range(10_000):
        number = n * 7919 % 90_000
        text.replace((number, 2), (number + n % 2, 3), "\n" * (n % 3), "utf-16")
    broken = time.perf_counter() - begun - typed
    print(f"10,000 changes: {typed:.2f} s; with line breaks {broken:.2f} s")
    assert typed + broken < 5
    assert text.line_count == len(split_lines(str(text)))
