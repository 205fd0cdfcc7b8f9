"""One line <-> one entry: kinds, unknown ones, odd shapes, what JSON and UTF-8 cannot carry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.history.made import encoded, entry, header, said

from singletree.history.entries import (
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    LabelEntry,
    MessageEntry,
    SessionHeader,
    SessionInfoEntry,
    UnknownEntry,
    dump,
    iso_now,
    iso_to_ms,
    parse,
)
from singletree.history.jsonl import DEPTH, decode, encode
from singletree.messages import AssistantMessage, UserMessage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def entry_in(line: bytes) -> Any:
    found = parse(line)
    assert found is not None and not isinstance(found, SessionHeader)
    return found


def test_a_header() -> None:
    found = parse(encoded(header(parentSession="/x.jsonl", extra=1)))
    assert isinstance(found, SessionHeader)
    assert (found.id, found.version, found.cwd) == ("s1", 3, "/w")
    assert found.parent_session == "/x.jsonl"
    assert json.loads(dump(found))["extra"] == 1


@pytest.mark.parametrize(
    ("given_version", "known"), [(None, 1), (2, 2), (3.0, 3), (9, 9), ("three", 4), (True, 4)]
)
def test_versions(given_version: Any, known: int) -> None:
    line = header(version=given_version)
    found = parse(encoded(line))
    assert isinstance(found, SessionHeader) and found.version == known


def test_odd_fields_of_a_header_are_dropped() -> None:
    odd = header(cwd=7, timestamp=None, parentSession=["x"], parent_session=5)
    found = parse(encoded(odd))
    assert isinstance(found, SessionHeader)
    assert (found.cwd, found.timestamp, found.parent_session) == ("", "", None)


@pytest.mark.parametrize(
    "line", [b"", b"  \n", b"{broken", b"42\n", b'"x"', b"[1]", b"null", b"\xff"]
)
def test_what_is_no_object_is_no_entry(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("levels", [100, 230, 236, 245, 300, 400, 700, 900, 5000, 100_000])
def test_what_is_nested_too_deeply_is_no_entry(opened: str, closed: str, levels: int) -> None:
    nested = f"{opened * levels}1{closed * levels}"
    call = f'{{"type":"toolCall","id":"c","name":"n","arguments":{{"x":{nested}}}}}'
    for line in (
        f'{{"type":"message","id":"a","message":{{"role":"assistant","content":[{call}]}}}}',
        f'{{"type":"custom","id":"a","customType":"x","data":{nested}}}',
        f'{{"type":"from_the_future","id":"a","x":{nested}}}',
    ):
        found = parse(line.encode())
        assert found is None or (levels < DEPTH and nested.encode() in dump(found))
        assert found is not None or levels > 230


def test_nan_is_no_json() -> None:
    assert decode(b'{"a":NaN}') is None
    assert decode(b'{"a":1e400}') is not None


@pytest.mark.parametrize(
    "line",
    [
        entry("a", None, "message"),
        entry("a", None, "message", message=None),
        entry("a", None, "message", message={"role": "user", "content": 5}),
        entry("a", None, "message", message="hello"),
        entry("a", None, "model_change", provider=3),
        entry("a", None, "from_the_future", body={"x": None}),
        {**entry("a", None), "type": 5},
        {"id": "a"},
    ],
)
def test_an_odd_shape_is_kept_whole(line: dict[str, Any]) -> None:
    found = entry_in(encoded(line))
    assert isinstance(found, UnknownEntry)
    assert found.id == "a"
    for name, value in line.items():
        if name not in ("type", "id", "parentId", "timestamp"):
            assert (found.model_extra or {})[name] == value


def test_nulls_stand_for_absent() -> None:
    line = said("a", None, "x", "assistant", usage=None, stopReason=None, errorMessage=None)
    found = entry_in(encoded(line))
    assert isinstance(found, MessageEntry)
    assert isinstance(found.message, AssistantMessage)
    assert found.message.stop_reason == "stop"


def test_missing_content_is_empty() -> None:
    found = entry_in(encoded(entry("a", None, "message", message={"role": "user"})))
    assert isinstance(found, MessageEntry) and isinstance(found.message, UserMessage)
    assert found.message.content == []


def test_a_compaction_may_keep_nothing() -> None:
    found = entry_in(encoded(entry("a", None, "compaction", summary="s")))
    assert isinstance(found, CompactionEntry) and found.first_kept_entry_id == ""


def test_numbers_count_as_ids() -> None:
    found = entry_in(b'{"type":"later","id":7,"parentId":6,"timestamp":5}')
    assert (found.id, found.parent_id, found.timestamp) == ("7", "6", "")


def test_half_a_surrogate_pair_is_replaced() -> None:
    line = (
        rb'{"type":"custom","id":"a","customType":"x","data":{"k\ud83d":["\udc00","\ud83d\ude42"]}}'
    )
    found = entry_in(line)
    assert isinstance(found, CustomEntry)
    assert found.data == {"k�": ["�", "🙂"]}
    assert parse(dump(found)) == found


def test_a_number_that_no_float_can_hold_is_none() -> None:
    """It is JSON all the same, so the rest of its line counts."""
    found = entry_in(b'{"type":"custom","id":"a","customType":"x","data":[1e999,-1e999,1.5]}')
    assert isinstance(found, CustomEntry)
    assert found.data == [None, None, 1.5]


def test_the_head_comes_first() -> None:
    made = MessageEntry(id="a", parent_id=None, timestamp="t", message=UserMessage(content="x"))
    line = dump(made)
    assert line.startswith(
        b'{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role"'
    )
    assert line.endswith(b"}\n") and line.count(b"\n") == 1


def test_a_hiding_edit_says_so() -> None:
    assert b'"replacement":null' in dump(ContextEditEntry(id="a", target_id="b"))


@pytest.mark.parametrize("made", [LabelEntry(target_id="b"), SessionInfoEntry()])
def test_what_is_absent_is_not_written(made: LabelEntry | SessionInfoEntry) -> None:
    assert b'"label"' not in dump(made).replace(b'"type":"label"', b"")
    assert b'"name"' not in dump(made)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_any_object_becomes_one_line_and_comes_back(data: dict[str, Any]) -> None:
    line = encode(data)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    back = decode(line)
    assert back is not None
    assert encode(back) == line


@given(st.binary(max_size=80))
def test_any_bytes_can_be_given_to_parse(line: bytes) -> None:
    found = parse(line)
    assert found is None or found.id is not None


@given(JSON)
def test_any_json_can_be_an_entry(value: Any) -> None:
    data = {"type": "message", "id": "a", "message": value}
    found = entry_in(encode(data))
    assert found.id == "a"
    assert parse(dump(found)) is not None


def test_times() -> None:
    assert iso_to_ms("1970-01-01T00:00:01.500Z") == 1500
    assert iso_to_ms("no date") == 0
    assert iso_to_ms(iso_now()) > 1_700_000_000_000
