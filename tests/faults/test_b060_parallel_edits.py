"""B060: two edits of one file in one message, also through a link."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue
from tests.tools.worlds import run_tool, world_of

from singletree.tools.edit import edit_tool

NUMBERS = [str(number) for number in range(1, 101)]


@pytest.mark.parametrize("second", ["f", "link", "sub/../f", "linked_folder/f"])
async def test_b060_both_changes_are_there(tmp_path: Path, second: str) -> None:
    file = tmp_path / "f"
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "sub").mkdir()
    (tmp_path / "linked_folder").symlink_to(".")
    tool = edit_tool(world_of(tmp_path))

    async def change(path: str, old: str, new: str) -> None:
        edits: JsonValue = [{"oldText": f"\n{old}\n", "newText": f"\n{new}\n"}]
        output = await run_tool(tool, path=path, edits=edits)
        assert not output.is_error

    for _ in range(50):
        file.write_text("\n".join(NUMBERS) + "\n")
        async with anyio.create_task_group() as group:
            group.start_soon(change, "f", "50", "FIFTY")
            group.start_soon(change, second, "75", "SEVENTYFIVE")
        lines = file.read_text().split("\n")
        assert (lines[49], lines[74]) == ("FIFTY", "SEVENTYFIVE")
        assert lines[:49] + lines[50:74] + lines[75:-1] == [
            number for number in NUMBERS if number not in ("50", "75")
        ]
