"""Whatever goes in, what comes out fits; and what fits goes out as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from pydantic_core import to_json

from singletree.rpc.telling.bounds import bounded, page

WHOLE = "agent://s/entry/e.json"
LIMIT = 4096

leaves: st.SearchStrategy[JsonValue] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3000)
)
values: st.SearchStrategy[JsonValue] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=8), inner, max_size=20)
    ),
    max_leaves=40,
)


@given(values)
def test_the_result_fits(value: JsonValue) -> None:
    shown, cut = bounded(value, WHOLE, LIMIT)
    assert len(to_json(shown)) <= LIMIT
    assert (shown == value) is (cut is None)


def test_small_values_are_the_very_same() -> None:
    value: JsonValue = {"a": ["b", 1]}
    assert bounded(value, WHOLE)[0] is value


def test_a_cut_text_says_how_long_it_was_and_where_it_is() -> None:
    shown, cut = bounded({"text": "x" * 5000}, WHOLE, LIMIT)
    assert cut == WHOLE
    assert isinstance(shown, dict)
    text = str(shown["text"])
    assert text.startswith("xxx")
    assert text.endswith(f"[… cut here: 5000 characters in all. The whole: {WHOLE}]")


def test_short_fields_beside_a_long_one_stay() -> None:
    shown, _ = bounded({"type": "message", "id": "e1", "text": "x" * 9000}, WHOLE, LIMIT)
    assert isinstance(shown, dict)
    assert (shown["type"], shown["id"]) == ("message", "e1")


def test_a_picture_is_left_out_rather_than_broken() -> None:
    picture: JsonValue = {"type": "image", "data": "A" * 9000, "mimeType": "image/png"}
    shown, _ = bounded({"content": [picture]}, WHOLE, LIMIT)
    assert shown == {
        "content": [{"type": "image", "data": "", "mimeType": "image/png", "uri": WHOLE}]
    }


def test_control_characters_count_as_they_are_written() -> None:
    shown, cut = bounded("\x01" * 1000, WHOLE, LIMIT)
    assert cut
    assert len(to_json(shown)) <= LIMIT


def test_a_long_list_says_how_much_is_missing() -> None:
    shown, _ = bounded(list(range(100_000)), WHOLE, LIMIT)
    assert isinstance(shown, list)
    assert shown[0] == 0
    assert str(shown[-1]).endswith(f"more. The whole: {WHOLE}]")


def test_a_page_holds_what_fits() -> None:
    rows: list[JsonValue] = [{"n": "x" * 90} for _ in range(10)]
    assert len(list(page(rows, 500))) == 5
    assert list(page([], 500)) == []


def test_a_page_is_never_empty() -> None:
    assert len(list(page(["x" * 1000, "y"], 100))) == 1
