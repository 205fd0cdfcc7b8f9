"""JSON that others wrote: what is wrong with it is one plain line, however it is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.errors import SettingsError
from singletree.jsontext import DEPTH, decoded, parse_object, read_object, without_notes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('",]}/\\\\ \\n a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('",]}/ a'), inner),
)


def nested(levels: int) -> bytes:
    """An object of so many levels."""
    return b'{"a":' * levels + b"1" + b"}" * levels


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "f is not valid JSON (Expecting property name"),
        (b"[]", "f holds no JSON object"),
        (b"null", "f holds no JSON object"),
        (b"\xff{}", "f cannot be read: byte 0 is no UTF-8"),
        (nested(DEPTH + 1), "f is not valid JSON (it is nested more than 100 levels deep)"),
        (nested(100_000), "f is not valid JSON (it is nested more than 100 levels deep)"),
        (b"[" * 100_000, "f is not valid JSON (it is nested more than 100 levels deep)"),
        (b'{"a": 1e999}', "f is not valid JSON (1e999 is too large)"),
        (b'{"a": [-Infinity]}', "f is not valid JSON (-Infinity is no JSON)"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "f is not valid JSON (Exceeds the limit"),
    ],
)
def test_what_is_wrong_is_one_line(data: bytes, why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_object(data, "f")
    assert caught.value.message.startswith(why)


@pytest.mark.parametrize("data", [b"", b" \n", b"{}", b"\xef\xbb\xbf{}"])
def test_nothing_is_an_empty_object(data: bytes) -> None:
    assert parse_object(data, "f") == {}


def test_what_is_just_deep_enough() -> None:
    assert parse_object(nested(DEPTH - 1), "f")


def test_a_text_that_is_too_deep_is_no_json() -> None:
    assert decoded('{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="nested more than 100"):
        decoded("[" * 100_000)


def test_files(tmp_path: Path) -> None:
    assert read_object(tmp_path / "none.json") == {}
    with pytest.raises(SettingsError, match="here cannot be read: Is a directory"):
        read_object(tmp_path, "here")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": [2, 3,], }', {"a": 1, "b": [2, 3]}),
        ('// first\n{\n  "a": 1, // last\n  // and more\n}\n// end', {"a": 1}),
        (
            '{"a": "http://x//y", "b": "\\"//,]", "c": "\\\\"}',
            {"a": "http://x//y", "b": '"//,]', "c": "\\"},
        ),
        ('{"a": ",}", "b": [",]"],}', {"a": ",}", "b": [",]"]}),
        ('{"a": 1, // one [of two]\n "b": 2, // } or\n // ]\n}', {"a": 1, "b": 2}),
        (f'{{"a": 1, {"// http://x " * 1000}\n "b": 2}}', {"a": 1, "b": 2}),
        ('{"a": [,]}', {"a": []}),
        ('{"a": 1,,}', None),
        ('{"a": "// never closed}', None),
        ('{"a": 1 /* no */}', None),
        (",", None),
    ],
)
def test_remarks_and_commas_of_people(text: str, value: object) -> None:
    assert len(without_notes(text)) == len(text)
    if value is None:
        with pytest.raises(SettingsError, match="f is not valid JSON"):
            parse_object(text.encode(), "f", notes=True)
    else:
        assert parse_object(text.encode(), "f", notes=True) == value


@given(JSON, st.sampled_from([None, 1]))
def test_what_is_json_stays_as_it_is(value: object, indent: int | None) -> None:
    text = json.dumps({"v": value}, indent=indent)
    assert without_notes(text) == text


def test_where_it_is_wrong_is_told_as_it_stands_in_the_file() -> None:
    with pytest.raises(SettingsError, match=r"line 2 column 7"):
        parse_object(b'{ // why\n "a": x}', "f", notes=True)
