"""B058: matching by looks leaves the rest of the file alone."""

from __future__ import annotations

from pathlib import Path

from tests.tools.worlds import run_tool, world_of

from singletree.tools.edit import edit_tool

BEFORE = 'a = "x"\n# “quoted” — dash\nb = 1  \n'


async def test_b058_only_the_matched_part_changes(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(BEFORE)
    output = await run_tool(
        edit_tool(world_of(tmp_path)),
        path="f",
        edits=[{"oldText": "a = “x”", "newText": 'a = "y"'}],
    )
    assert not output.is_error
    assert (tmp_path / "f").read_text() == BEFORE.replace('"x"', '"y"')


async def test_b058_on_the_matched_line_nothing_else_changes(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x “q” middle — tail  \n")
    output = await run_tool(
        edit_tool(world_of(tmp_path)),
        path="f",
        edits=[{"oldText": '"q" middle', "newText": "Q"}],
    )
    assert not output.is_error
    assert (tmp_path / "f").read_text() == "x Q — tail  \n"
