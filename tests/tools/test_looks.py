"""What looks the same, and what can be shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.looks import (
    clusters,
    composed,
    looks,
    looks_of_cluster,
    looks_of_name,
    shown,
    shown_name,
)

TEXTS = st.text(max_size=30) | st.text(
    alphabet="ae\u0301\u0327ﬁ①½…ｶﾞ\u1112\u1161\u11ab\u3131\u314f“”’—数 "
    "\u00a0\u200b\u241b\ufffd\udcff\x1b",
    max_size=12,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("it’s “so”", 'it\'s "so"'),
        ("a—b–c−d‑e", "a-b-c-d-e"),
        ("a\u00a0b\u202fc\u3000d", "a b c d"),
        ("e\u0301", "é"),
        ("ﬁ", "fi"),
        ("ＡＢＣ", "ABC"),
        ("…", "..."),
        ("a\u200bb", "ab"),
        ("\u1112\u1161\u11ab", "한"),
        ("\x1b[0m", "␛[0m"),
        ("caf\udce9", "caf\ufffd"),
    ],
)
def test_these_look_the_same(one: str, other: str) -> None:
    assert looks(one) == looks(other)


@pytest.mark.parametrize(("one", "other"), [("Foo", "foo"), ("a", "а"), ("a  b", "a b")])
def test_these_do_not(one: str, other: str) -> None:
    assert looks(one) != looks(other)


def test_names_are_told_apart_more_strictly() -> None:
    assert looks_of_name("it’s") == looks_of_name("it's")
    assert looks_of_name("x²") != looks_of_name("x2")
    assert composed("e\u0301") == composed("é") and composed("it’s") != composed("it's")


@given(TEXTS)
def test_what_a_text_looks_like_is_made_of_its_characters(text: str) -> None:
    parts = list(clusters(text))
    assert "".join(parts) == text
    assert looks(text) == "".join(map(looks_of_cluster, parts))


@given(TEXTS)
def test_what_is_shown_can_be_stored_and_looks_the_same(text: str) -> None:
    for seen in (shown(text), shown_name(text)):
        seen.encode()
        assert not any(unicodedata.category(char) == "Cs" or char in "\0\x1b" for char in seen)
    assert looks(shown(text)) == looks(text)
    assert "\n" not in shown_name(text)
