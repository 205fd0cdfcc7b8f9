"""What is said, as values: sums of usage, lengths as tokens are guessed from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from singletree.messages import Cost, Usage, utf16_head, utf16_units

_texts = st.text(st.characters(codec=None), max_size=60)


def test_a_sum_of_usages_counts_everything() -> None:
    counted = Usage(input=1, output=2, cache_read=3, cache_write=4, total_tokens=10)
    bare = Usage(input=5, output=6, cache_write_1h=7, reasoning=2, cost=Cost(total=0.5))
    both = counted + bare
    assert (both.input, both.output, both.cache_read, both.cache_write) == (6, 8, 3, 4)
    assert (both.cache_write_1h, both.reasoning, both.cost.total) == (7, 2, 0.5)
    assert both.used == counted.used + bare.used == 21
    assert counted + Usage() == counted


@given(_texts)
def test_units_are_counted_as_javascript_does(text: str) -> None:
    assert utf16_units(text) == sum(2 if ord(c) > 0xFFFF else 1 for c in text)


@given(_texts, st.integers(-3, 70))
def test_a_head_is_the_longest_that_fits(text: str, units: int) -> None:
    head = utf16_head(text, units)
    assert text.startswith(head)
    assert utf16_units(head) <= max(units, 0)
    assert len(head) == len(text) or utf16_units(text[: len(head) + 1]) > units
