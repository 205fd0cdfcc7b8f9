"""B065: control bytes, escape codes and bad UTF-8 in what commands say and files are called."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.tools.worlds import run_tool

from singletree.messages import text_of
from singletree.tools.bash import bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.find import find_tool
from singletree.tools.search import grep_tool
from singletree.tools.shell import LocalShell

DIRTY = r"""printf 'a\0b\033[31mred\033[0m\xff\xfe\r50%%\r100%%\n'"""


def clean(text: str) -> str:
    assert json.loads(json.dumps(text, ensure_ascii=False).encode()) == text
    assert "\0" not in text
    assert "\033" not in text
    return text


async def test_b065_output_can_be_sent(tmp_path: Path) -> None:
    world = LocalWorld(tmp_path, Disk(), LocalShell(dict(os.environ)))
    output = await run_tool(bash_tool(world), command=DIRTY)
    assert clean(text_of(list(output.content))) == "abred\ufffd\ufffd\n100%\n"


async def test_b065_names_can_be_sent(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff\033[31m\n.txt")).write_text("red\n")
    world = LocalWorld(tmp_path, Disk(), LocalShell(dict(os.environ)))
    for tool, arguments in (
        (find_tool(world), {"pattern": "*.txt"}),
        (grep_tool(world), {"pattern": "red"}),
        (bash_tool(world), {"command": "ls"}),
    ):
        output = await run_tool(tool, **arguments)
        text = clean(text_of(list(output.content)))
        assert "bad" in text
        assert "\ufffd" in text
