"""write and ls: a whole file, a folder's names."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue
from tests.tools.worlds import names, run_tool, said, world_of

from singletree.agent.tool import parse_args
from singletree.messages import ToolCall
from singletree.tools.compare import NO_END
from singletree.tools.ls import ls_tool
from singletree.tools.preview import NO_TEXT, preview_change
from singletree.tools.write import WriteArgs, write_tool


async def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    tool = write_tool(world_of(tmp_path))
    assert await said(tool, path="x/y.txt", content="one\ntwo") == "Created x/y.txt: 2 lines, 7B."
    output = await run_tool(tool, path="x/y.txt", content="é\r\n")
    assert output.content[0] == output.text("Replaced x/y.txt: 1 line, 4B.").content[0]
    assert output.details == {"created": False}
    assert (tmp_path / "x" / "y.txt").read_bytes() == b"\xc3\xa9\r\n"
    assert names(tmp_path / "x") == ["y.txt"]
    told = await said(tool, path="x/y.txt", content="a\x0cb\u2028c\x85d")
    assert told == "Replaced x/y.txt: 1 line, 10B."
    assert await said(tool, path="x/y.txt", content="") == "Replaced x/y.txt: 0 lines, 0B."


@pytest.mark.parametrize(
    ("before", "content", "shown"),
    [
        (None, "a\x0cb\u2028c\n", "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\u240cb\u2028c\n"),
        (b"a\r\nb", "a\nc", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b{no_end}+c{no_end}"),
        (b"\xff\xfe", "a", "--- f {no_text}\n+++ f {no_text}\n@@ -0,0 +1 @@\n+a{no_end}"),
        (b"a\nb\n", "a\nb", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+b{no_end}"),
    ],
)
async def test_a_write_is_previewed_by_the_lines_of_the_file(
    tmp_path: Path, before: bytes | None, content: str, shown: str
) -> None:
    if before is not None:
        (tmp_path / "f").write_bytes(before)
    told = await preview_change(world_of(tmp_path), WriteArgs(path="f", content=content))
    assert told == shown.format(no_text=NO_TEXT, no_end=f"\n{NO_END}\n")


async def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    tool = write_tool(world_of(tmp_path))
    assert await said(tool, path=".", content="x") == (
        ". is a folder: give the path of a file in it."
    )
    assert await said(tool, path="new/", content="x") == (
        "new/ is a folder: give the path of a file in it."
    )
    assert await said(tool, path="a\0b", content="x") == (
        "No path can be a\u2400b: it has a NUL or half a character in it."
    )
    assert await said(tool, path="f", content="x\ud83dy") == (
        "The content has half a character (a lone surrogate) at position 2. Nothing was written."
        " Send the text again with whole characters."
    )
    assert names(tmp_path) == []


async def test_the_same_name_in_another_form_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "cafe\u0301").write_text("old")
    told = await said(write_tool(world_of(tmp_path)), path="caf\u00e9", content="new")
    assert told.startswith("Replaced caf\u00e9: 1 line, 3B.\n[There is no caf\u00e9; this is ")
    assert names(tmp_path) == ["cafe\u0301"]


async def test_writes_at_once_happen_in_the_order_of_asking(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("f")
    tool = write_tool(world_of(tmp_path))

    async def write(number: int) -> None:
        await run_tool(tool, path="link" if number % 2 else "f", content=f"{number}\n")

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(write, number)
    assert (tmp_path / "f").read_text() == "29\n"


@pytest.mark.parametrize(
    "raw",
    [
        {"path": "f", "content": "x"},
        {"file_path": "f", "content": "x"},
        {"path": "f", "text": "x"},
        {"filename": "f", "contents": "x"},
    ],
)
def test_other_names_of_the_same_arguments(tmp_path: Path, raw: dict[str, JsonValue]) -> None:
    call = ToolCall(id="1", name="write", arguments=raw)
    wanted = WriteArgs(path="f", content="x")
    assert parse_args(write_tool(world_of(tmp_path)), call) == wanted


async def test_names_are_listed_sorted_with_folders_marked(tmp_path: Path) -> None:
    for name in ("b.txt", "A.txt", ".env", "two\nlines"):
        (tmp_path / name).write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "to_sub").symlink_to("sub")
    (tmp_path / "dead").symlink_to("nowhere")
    (tmp_path / "bad\udcff").write_text("")
    tool = ls_tool(world_of(tmp_path))
    assert await said(tool) == (
        ".env\nA.txt\nb.txt\nbad\ufffd\nsub/\nto_sub/\ntwo\u240alines\n\n"
        "[Links that lead nowhere: dead]"
    )
    assert await said(tool, limit=2) == (
        ".env\nA.txt\n\n[2 of 7 names are shown. For more give limit=4, or use find.]\n"
        "[Links that lead nowhere: dead]"
    )
    assert await said(tool, path="sub") == "[The folder is empty.]"
    assert await said(tool, path="b.txt") == ("b.txt is a file, not a folder. Read it with read.")
    assert await said(tool, path="sup") == "sup does not exist. Similar names there: sub."


async def test_a_giant_folder_is_listed(tmp_path: Path) -> None:
    for number in range(6000):
        (tmp_path / f"{number:05}").touch()
    tool = ls_tool(world_of(tmp_path))
    told = await said(tool, limit=2)
    assert told == (
        "00000\n00001\n\n[2 of 6000 names are shown. For more give limit=4, or use find.]"
    )
    assert (await said(tool, limit=10**30)).startswith("00000\n00001\n")
    assert await said(tool, path="05999x") == (
        "05999x does not exist. Similar names there: 05999, 05998, 05997."
    )


async def test_a_long_listing_is_cut_at_bytes(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:0200}").write_text("")
    told = await said(ls_tool(world_of(tmp_path)))
    body, notes = told.split("\n\n")
    assert body.count("\n") == 253 and len(body.encode()) <= 51_200
    assert notes == (
        "[Cut: 300 lines, 58.9KB in all. Shown: lines 1-254. All of it: use find to narrow it down]"
    )
