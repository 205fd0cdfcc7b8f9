"""B054: an edit with LF in a file with CR LF."""

from __future__ import annotations

from pathlib import Path

from tests.tools.worlds import run_tool, world_of

from singletree.tools.edit import edit_tool


async def test_b054_the_file_keeps_its_line_ends(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"alpha\r\nbeta\r\n")
    output = await run_tool(
        edit_tool(world_of(tmp_path)),
        path="f",
        edits=[{"oldText": "alpha\nbeta\n", "newText": "alpha\ngamma\ndelta\n"}],
    )
    assert not output.is_error
    assert (tmp_path / "f").read_bytes() == b"alpha\r\ngamma\r\ndelta\r\n"
