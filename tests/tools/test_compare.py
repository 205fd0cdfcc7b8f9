"""What two texts share, and in what time it is found."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.compare import NO_END, opcodes, unified
from singletree.tools.preview import _compared

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=12)


@given(LINES, LINES)
def test_the_codes_make_the_new_lines_of_the_old(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    at = 0
    for kind, i, i_end, j, j_end in opcodes(old, new):
        assert (i, j) == (at, len(made))
        made += old[i:i_end] if kind == "equal" else new[j:j_end]
        at = i_end
    assert (made, at) == (new, len(old))


def test_the_form_of_a_unified_diff() -> None:
    old = [f"{n}\n" for n in range(20)]
    new = [*old[:2], "two\n", *old[3:17], *old[18:], "end"]
    assert "".join(unified(old, new, "a", "b")) == (
        "--- a\n+++ b\n"
        "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n 4\n 5\n"
        f"@@ -15,6 +15,6 @@\n 14\n 15\n 16\n-17\n 18\n 19\n+end\n{NO_END}\n"
    )
    assert list(unified(old, old, "a", "b")) == []
    assert "".join(unified([], ["x\n"], "a", "b")) == "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n"


def test_many_lines_of_few_values_take_no_minutes() -> None:
    chance = random.Random(1)
    old, new = ("".join(f"{chance.randrange(150)}\n" for _ in range(40_000)) for _ in range(2))
    assert _compared(old.encode(), new, "f", False).startswith("--- f\n+++ f\n@@ -1,40000 +1,40000")
    changed = old.replace("\n", "\n!", 1)
    assert _compared(old.encode(), changed, "f", False).count("\n") < 12
