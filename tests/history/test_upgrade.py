"""Lines of older versions."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from singletree.history.upgrade import upgrade


@pytest.mark.parametrize(("place", "kept"), [(0, None), (1, 1), (2, 2), (3, None), ("1", None)])
def test_a_place_becomes_an_id_if_it_is_not_behind_the_compaction(
    place: JsonValue, kept: int | None
) -> None:
    made = upgrade(
        [
            {"type": "session", "id": "old"},
            {"type": "message", "message": {"role": "user", "content": "a"}},
            {"type": "compaction", "summary": "S", "firstKeptEntryIndex": place},
            {"type": "message", "message": {"role": "user", "content": "b"}},
        ]
    )
    assert made[2].get("firstKeptEntryId") == (None if kept is None else made[kept]["id"])
    assert "firstKeptEntryIndex" not in made[2]
