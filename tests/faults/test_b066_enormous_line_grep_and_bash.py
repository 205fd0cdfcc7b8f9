"""B066: one line of 600 KB is searched and printed."""

from __future__ import annotations

import os
from pathlib import Path

from tests.tools.worlds import run_tool

from singletree.messages import text_of
from singletree.tools.bash import bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.search import grep_tool
from singletree.tools.shell import LocalShell

LINE = '{"k": "' + "x" * 300_000 + "NEEDLE" + "é" * 150_000 + '"}'


def world(folder: Path) -> LocalWorld:
    (folder / "one.json").write_text(LINE)
    return LocalWorld(folder, Disk(), LocalShell(dict(os.environ)))


async def test_b066_grep_shows_what_is_around(tmp_path: Path) -> None:
    output = await run_tool(grep_tool(world(tmp_path)), pattern="NEEDLE")
    text = text_of(list(output.content))
    assert "xxxNEEDLEééé" in text
    assert len(text.encode()) <= 2048
    assert "shown in part" in text
    assert "Use read to see more" in text


async def test_b066_grep_of_a_line_beyond_memory_is_told(tmp_path: Path) -> None:
    with (tmp_path / "giant.json").open("w") as file:
        for _ in range(10):
            file.write("x" * 1_000_000)
        file.write("NEEDLE\n")
    output = await run_tool(grep_tool(world(tmp_path)), pattern="NEEDLE$")
    text = text_of(list(output.content))
    assert text.startswith("giant.json:")
    assert "not shown" in text
    assert len(text) < 2048


async def test_b066_bash_shows_the_last_part(tmp_path: Path) -> None:
    output = await run_tool(
        bash_tool(world(tmp_path), outputs=tmp_path / "o"), command="cat one.json"
    )
    text = text_of(list(output.content))
    body, _, notice = text.rpartition("\n\n")
    assert LINE.endswith(body)
    assert 51_000 < len(body.encode()) <= 51_200
    assert "the last 50.0KB of line 1" in notice
    (whole,) = (tmp_path / "o").iterdir()
    assert str(whole) in notice
    assert whole.read_text() == LINE
