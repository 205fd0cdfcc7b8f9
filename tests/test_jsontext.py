"""JSON that others wrote: what is wrong with it is one plain line, however it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.errors import SettingsError
from singletree.jsontext import DEPTH, decoded, parse_object, read_object


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
