"""Texts cut to the room there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from singletree.excerpt import cut, excerpt

TEXTS = st.text(st.sampled_from("ab \n\t"), max_size=60)


@given(TEXTS, st.integers(2, 20))
def test_a_text_is_whole_or_its_beginning_and_a_mark(text: str, most: int) -> None:
    shown = cut(text, most)
    assert len(shown) <= most
    assert shown == text or (shown[-1] == "…" and text.startswith(shown[:-1]))
    assert (shown == text) == (len(text) <= most)


@given(TEXTS, st.integers(2, 20))
def test_an_excerpt_is_one_line_and_says_when_it_is_not_all(text: str, most: int) -> None:
    shown, line = excerpt(text, most), " ".join(text.split())
    assert len(shown) <= most and "\n" not in shown
    assert shown.endswith("…") or shown == line
    assert line.startswith(shown.rstrip("… "))
