"""Arguments that are still coming, were cut, or came with small faults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.model.partial_json import (
    CUT,
    NOT_JSON,
    NOT_OBJECT,
    TOO_DEEP,
    PartialJson,
    parse_arguments,
    read_call,
    repair_json,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)


def fed(*pieces: str) -> dict[str, Any]:
    partial = PartialJson()
    for piece in pieces:
        partial.feed(piece)
    return partial.value


@given(objects, st.booleans(), st.data())
def test_any_split_ends_in_the_whole_value(
    value: dict[str, Any], ascii_only: bool, draw: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert fed(*pieces) == value
    assert fed(*text) == value
    assert parse_arguments(text) == (value, None)


@pytest.mark.parametrize(
    ("pieces", "values"),
    [
        (("1", ".", "5"), [1, None, 1.5]),
        (("2", "e", "+", "1"), [2, 2, 2, 20]),
        (("-", "3", "}"), [None, -3, -3]),
        (("nul", "}"), ["null", None]),
    ],
)
def test_a_number_shows_as_far_as_it_is_one(pieces: tuple[str, ...], values: list[Any]) -> None:
    for opening, key in (('{"a":', "a"), ('{"a":[', 0)):
        partial = PartialJson()
        partial.feed(opening)
        for piece, value in zip(pieces, values, strict=True):
            partial.feed(piece)
            held: Any = partial.value if key == "a" else partial.value["a"]
            shown = [None] if value == "null" else [] if value is None else [value]
            assert (list(held.values()) if key == "a" else held) == shown


@given(objects, st.data())
def test_every_beginning_has_only_keys_of_the_whole(
    value: dict[str, Any], draw: st.DataObject
) -> None:
    text = json.dumps(value)
    part = text[: draw.draw(st.integers(0, len(text)))]
    assert read_call(part)[0].keys() <= value.keys()


@given(st.text(alphabet='{}[]":,\\untrfae0123456789.- \n\ud83d\ude42é', max_size=60))
def test_any_text_is_taken_without_a_failure(text: str) -> None:
    whole, byte_by_byte = PartialJson(), PartialJson()
    whole.feed(text)
    for char in text:
        byte_by_byte.feed(char)
    assert (whole.open, whole.value) == (byte_by_byte.open, byte_by_byte.value)
    arguments, _ = parse_arguments(text)
    json.dumps(arguments).encode()
    json.dumps(read_call(text)[0], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("", {}, None),
        ("  \n", {}, None),
        ("{}", {}, None),
        ('{"a": 1}', {"a": 1}, None),
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}, None),
        (r'{"a": "\d+ \q"}', {"a": r"\d+ \q"}, None),
        ('"{\\"a\\": 1}"', {"a": 1}, None),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}, None),
        ('{"\\ud83d": ["\\ude42"]}', {"\ufffd": ["\ufffd"]}, None),
        ('{"a": NaN}', {}, NOT_JSON),
        ('{"a": 1e400}', {}, NOT_JSON),
        ('{"a": -1e999}', {}, NOT_JSON),
        ("[1]", {}, NOT_OBJECT),
        ("null", {}, NOT_OBJECT),
        ('"text"', {}, NOT_JSON),
        ('{"a": 1} extra', {}, NOT_JSON),
        ('{"a": 1}{"b": 2}', {}, NOT_JSON),
        ('{"a": 1', {}, CUT),
        ('{"a": "b', {}, CUT),
        ("[" * 100_000, {}, CUT),
        ('{"a":' * 5000, {}, CUT),
        ('{"a": ' + "9" * 5000 + "}", {}, NOT_JSON),
        ('{"a": ' + "[" * 150 + "]" * 150 + "}", {}, TOO_DEEP),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", {}, TOO_DEEP),
    ],
)
def test_whole_arguments(text: str, value: dict[str, Any], error: str | None) -> None:
    assert parse_arguments(text) == (value, error)


def test_of_cut_arguments_what_came_is_kept() -> None:
    assert read_call('{"path": "a.txt", "text": "li') == ({"path": "a.txt", "text": "li"}, CUT)
    assert read_call('{"edits": [{"old": "a"}, {"ol') == ({"edits": [{"old": "a"}, {}]}, CUT)
    assert read_call("{oops}") == ({}, NOT_JSON)
    assert read_call('{"a": 1e400, "b": "x') == ({"b": "x"}, CUT)
    assert read_call('{"a": ' + "[" * 150) == ({}, CUT)


def test_a_pair_cut_in_two_is_one_character() -> None:
    assert fed('{"a": "\\ud83d', '\\ude42"}') == {"a": "🙂"}


def test_repair_leaves_good_escapes() -> None:
    assert repair_json(r'{"a": "\"\\\/\b\f\n\r\t\u00e9 \x"}') == {"a": '"\\/\b\f\n\r\té \\x'}


def test_a_long_text_in_many_pieces_takes_linear_time() -> None:
    partial = PartialJson()
    partial.feed('{"text": "')
    for _ in range(20_000):
        partial.feed("12345678")
    partial.feed('"}')
    assert len(str(partial.value["text"])) == 160_000
