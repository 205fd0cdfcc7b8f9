"""B056: an edit in a file that is not UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.tools.worlds import run_tool, said, world_of

from singletree.tools.edit import edit_tool
from singletree.tools.read import read_tool


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"x = 1\n# caf\xe9\n", "x = 1", "x = 2", b"x = 2\n# caf\xe9\n"),
        (b"\xc5\xe4\xd6\xc3\x3d\x31\x0a", "1", "2", b"\xc5\xe4\xd6\xc3\x3d\x32\x0a"),
        (b"# caf\xe9 = 1\n", "# caf\ufffd = 1", "# caf\ufffd = 2", b"# caf\xe9 = 2\n"),
    ],
)
async def test_b056_only_the_asked_byte_changes(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (tmp_path / "f").write_bytes(before)
    world = world_of(tmp_path)
    assert "[Not UTF-8" in await said(read_tool(world), path="f")
    edits: JsonValue = [{"oldText": old, "newText": new}]
    output = await run_tool(edit_tool(world), path="f", edits=edits)
    assert not output.is_error
    assert (tmp_path / "f").read_bytes() == after
