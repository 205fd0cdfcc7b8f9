"""Which models are cycled through."""

from __future__ import annotations

import pytest

from singletree.rpc.handlers.model import enabled

REFS = ["a/opus-5", "a/haiku-5", "b/opus-5", "b/llama:8b"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ((), REFS),
        (("a/opus-5",), ["a/opus-5"]),
        (("opus-*",), ["a/opus-5", "b/opus-5"]),
        (("b/*", "haiku-5"), ["a/haiku-5", "b/opus-5", "b/llama:8b"]),
        (("nothing",), REFS),
    ],
)
def test_patterns_choose_what_is_cycled_through(patterns: list[str], left: list[str]) -> None:
    assert enabled(REFS, patterns) == left
