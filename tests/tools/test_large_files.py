"""Files of a gigabyte: reading a few lines of them costs no memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
import pytest
from pydantic import JsonValue
from tests.tools.worlds import said, world_of

from singletree.errors import ToolError
from singletree.tools.edit import edit_tool
from singletree.tools.preview import preview_change
from singletree.tools.write import WriteArgs

SCRIPT = """
import resource, sys
import anyio
from pathlib import Path
from tests.tools.worlds import said, world_of
from singletree.tools.read import read_tool

async def main(folder, offset):
    tool = read_tool(world_of(Path(folder)))
    await said(tool, path="small", offset=1, limit=2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(await said(tool, path="big", offset=int(offset), limit=2))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("offset", "shown"), [(3, "line 3\nline 4\n"), (2000, "line 2000\nlast but one\n")]
)
def test_lines_of_a_gigabyte_cost_no_memory(tmp_path: Path, offset: int, shown: str) -> None:
    """A hole of a gigabyte: one enormous line between the lines of the beginning and the end."""
    lines = "".join(f"line {number}\n" for number in range(1, 2000))
    (tmp_path / "small").write_text(lines)
    with (tmp_path / "big").open("wb") as file:
        file.write(lines.encode())
        file.write(b"line 2000\nlast but one\n")
        file.seek(1 << 30, 1)
        file.write(b"\nthe end\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(offset)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": "daemon:."},
    )
    assert done.stdout.startswith(shown)
    assert f"lines more in the file. Go on with offset={offset + 2}.]" in done.stdout
    assert int(done.stderr) < 12 * 1024


async def test_a_file_too_large_to_be_held_is_not_edited(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    await anyio.to_thread.run_sync(sparse, tmp_path / "large.txt")
    edits: list[JsonValue] = [{"oldText": "first", "newText": "second"}]
    told = await said(edit_tool(world), path="large.txt", edits=edits)
    assert "large.txt is 10240.0MB" in told and "Nothing was changed" in told
    with pytest.raises(ToolError, match="Use a command"):
        await preview_change(world, WriteArgs(path="large.txt", content="x"))


def sparse(path: Path) -> None:
    path.write_text("first\n")
    os.truncate(path, 10 << 30)
