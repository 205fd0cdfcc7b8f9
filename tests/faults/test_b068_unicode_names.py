"""B068: a name in another Unicode form than the one on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tools.worlds import said, world_of

from singletree.tools.edit import edit_tool
from singletree.tools.read import read_tool

NAMES = [
    ("Cafe\u0301.txt", "Caf\u00e9.txt"),
    ("it\u2019s.txt", "it's.txt"),
    ("shot 9.41\u202fAM.png", "shot 9.41 AM.png"),
]


@pytest.mark.parametrize(("real", "asked"), NAMES)
async def test_b068_the_only_look_alike_is_found_and_named(
    tmp_path: Path, real: str, asked: str
) -> None:
    (tmp_path / real).write_text("here\n")
    world = world_of(tmp_path)
    text = await said(read_tool(world), path=asked)
    assert text.startswith("here\n") and real in text
    text = await said(edit_tool(world), path=asked, edits=[{"oldText": "here", "newText": "there"}])
    assert real in text and (tmp_path / real).read_text() == "there\n"


@pytest.mark.parametrize(("real", "asked"), NAMES)
async def test_b068_the_name_itself_wins(tmp_path: Path, real: str, asked: str) -> None:
    (tmp_path / real).write_text("alike\n")
    (tmp_path / asked).write_text("itself\n")
    assert await said(read_tool(world_of(tmp_path)), path=asked) == "itself\n"


async def test_b068_of_two_look_alikes_none_is_taken(tmp_path: Path) -> None:
    (tmp_path / "it\u2019s.txt").write_text("one\n")
    (tmp_path / "it\u2018s.txt").write_text("two\n")
    text = await said(read_tool(world_of(tmp_path)), path="it's.txt")
    assert text.startswith("it's.txt does not exist. Similar names there: ")
