"""B066, reading: one line of 600 KB shows its beginning, on a character border, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tools.worlds import said, world_of

from singletree.tools.read import read_tool


@pytest.mark.parametrize("filler", ["x", "é", "数", "🙂", "a🙂"])
async def test_b066_read_shows_the_first_part(tmp_path: Path, filler: str) -> None:
    half = '{"a":"' + filler * (300_000 // len(filler.encode()))
    (tmp_path / "f.json").write_text(half + "NEEDLE" + half + '"}')
    text = await said(read_tool(world_of(tmp_path)), path="f.json")
    body, note = text.split("\n\n")
    assert 51_196 <= len(body.encode()) <= 51_200
    assert half.startswith(body)
    assert note.startswith("[Line 1 of 1 has 586.0KB: its first 50.0KB are shown. For the rest of ")
