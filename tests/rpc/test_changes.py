"""The smallest edits between two texts, and telling whether they are in a text that went on."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletree.rpc.buffers.changes import COMPARED, Hunk, contains, lacks, smallest, unix

TEXTS = st.text(alphabet="ab\n\r😀", max_size=40)


def applied(old: str, hunks: list[Hunk]) -> str:
    for hunk in reversed(hunks):
        old = old[: hunk.start] + hunk.new + old[hunk.end :]
    return old


@given(TEXTS, TEXTS)
@settings(max_examples=400, deadline=None)
def test_edits_make_the_new_text_and_do_not_touch(old: str, new: str) -> None:
    hunks = smallest(old, new)
    assert applied(old, hunks) == new
    assert (hunks == []) == (old == new)
    for one, other in pairwise(hunks):
        assert one.end < other.start
    for hunk in hunks:
        for at in (hunk.start, hunk.end):
            assert old[at - 1 : at + 1] != "\r\n" or at == 0


@pytest.mark.parametrize(
    ("old", "new", "hunks"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", [Hunk(2, 3, "B")]),
        ("a\nb\nc\n", "A\nb\nC\n", [Hunk(0, 1, "A"), Hunk(4, 5, "C")]),
        ("a\nc\n", "a\nb\nc\n", [Hunk(2, 2, "b\n")]),
        ("a\nb\nc\n", "a\nc\n", [Hunk(2, 4, "")]),
        ("say(one)\n", "say(two)\n", [Hunk(4, 7, "two")]),
        ("", "x", [Hunk(0, 0, "x")]),
        ("a\r\n", "a\n", [Hunk(1, 3, "\n")]),
        ("a", "a\n", [Hunk(1, 1, "\n")]),
    ],
)
def test_only_what_differs_is_replaced(old: str, new: str, hunks: list[Hunk]) -> None:
    assert smallest(old, new) == hunks


def test_a_large_difference_is_not_matched_line_by_line() -> None:
    count = COMPARED // 100
    old = "".join(f"old {n}\n" for n in range(count))
    new = "".join(f"new {n}\n" for n in range(count))
    assert len(smallest(f"x\n{old}", f"x\n{new}")) == 1


OLD, NEW = "one\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n"


@pytest.mark.parametrize(
    ("actual", "there", "missing"),
    [
        (NEW, True, False),
        (OLD, False, True),
        ("one\nTWO\nthree\nfour!\n", True, False),
        ("one\ntwo\nthree\nfour!\n", False, True),
        ("ONE\nTWO\nthree\nfour\n", True, False),
        ("one\nTWO!\nthree\nfour\n", False, False),
        ("something else\n", False, False),
    ],
)
def test_whether_an_edit_is_in_a_text_that_went_on(actual: str, there: bool, missing: bool) -> None:
    assert (contains(OLD, NEW, actual), lacks(OLD, NEW, actual)) == (there, missing)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_an_edit_that_was_not_made_is_never_seen(old: str, new: str) -> None:
    if old != new:
        assert not contains(old, new, old)
        assert lacks(old, new, old)
    assert contains(old, new, new)


def test_line_ends() -> None:
    assert unix("a\r\nb\rc\n") == "a\nb\nc\n"
