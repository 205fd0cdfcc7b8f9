"""B065, what files bring: control bytes, bad UTF-8, odd names never get into the conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool, world_of

from singletree.messages import Text, ToolResultMessage
from singletree.tools.ls import ls_tool
from singletree.tools.read import read_tool


@pytest.mark.parametrize(
    ("data", "has"),
    [
        (b"a\x1b[31mred\x1b[0m\xff\xfe\r50%\r100%\n", ("red", "100%")),
        (bytes(range(256)) * 40, ("not text", "10.0KB")),
        (b"\x7fELF\x02\x01\x01" + os.urandom(5000), ("ELF program or library", "4.9KB")),
        (b"x" * 9000 + b"\x00\x1b\x07\xc3\x28 late", ("late",)),
        (b"\xed\xa0\xbd half\n", ("half",)),
    ],
    ids=["escapes", "all bytes", "program", "late", "surrogate"],
)
async def test_b065_what_is_read_can_be_stored_and_sent(
    tmp_path: Path, data: bytes, has: tuple[str, ...]
) -> None:
    (tmp_path / "f").write_bytes(data)
    output = await run_tool(read_tool(world_of(tmp_path)), path="f")
    (block,) = output.content
    assert isinstance(block, Text)
    for part in has:
        assert part in block.text
    message = ToolResultMessage(tool_call_id="1", content=list(output.content))
    line = json.dumps(message.dump(), ensure_ascii=False).encode()
    assert b"\\u0000" not in line and b"\\u001b" not in line
    assert json.loads(line)["content"][0]["text"] == block.text


async def test_b065_a_name_that_is_no_text_is_listed_and_can_be_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff\x1bname")).write_text("here\n")
    world = world_of(tmp_path)
    listed = await run_tool(ls_tool(world))
    (block,) = listed.content
    assert isinstance(block, Text)
    assert block.text == "bad\ufffd\u241bname"
    output = await run_tool(read_tool(world), path=block.text)
    assert not output.is_error
    (block,) = output.content
    assert isinstance(block, Text)
    assert block.text.startswith("here\n")
    block.text.encode()
