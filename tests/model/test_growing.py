"""However a text is cut into pieces, it comes out whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from singletree.model.growing import JOINED, Growing


@given(st.lists(st.text(max_size=3)), st.integers(0, 3))
def test_the_whole_is_the_sum_of_its_pieces(pieces: list[str], times: int) -> None:
    growing = Growing()
    many = pieces * (1 + times * JOINED // max(1, len(pieces)))
    for at, piece in enumerate(many):
        if at % 100 == 0:
            assert str(growing) == "".join(many[:at])
        growing.add(piece)
    assert str(growing) == "".join(many)
