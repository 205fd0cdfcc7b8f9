"""read: the lines asked for, what is not shown and how to go on; what is no text is told."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool, said, world_of

from singletree.tools.disk import Disk
from singletree.tools.read import read_tool
from singletree.tools.world import Content, Listed, Stat, Written


async def read(folder: Path, path: str, offset: int | None = None, limit: int | None = None) -> str:
    return await said(read_tool(world_of(folder)), path=path, offset=offset, limit=limit)


@pytest.mark.parametrize(
    ("offset", "limit", "wanted"),
    [
        (None, None, "one\ntwo\nthree\n"),
        (2, None, "two\nthree\n"),
        (None, 2, "one\ntwo\n\n[1 line more in the file. Go on with offset=3.]"),
        (2, 1, "two\n\n[1 line more in the file. Go on with offset=3.]"),
        (2, 2, "two\nthree\n"),
        (0, 0, "one\ntwo\nthree\n"),
        (-3, None, "one\ntwo\nthree\n"),
        (4, None, "[Nothing more: f ends after line 3.]"),
        (5, None, "offset 5 is beyond the end: f has 3 lines."),
    ],
)
async def test_lines_and_how_to_go_on(
    tmp_path: Path, offset: int | None, limit: int | None, wanted: str
) -> None:
    (tmp_path / "f").write_text("one\ntwo\nthree\n")
    assert await read(tmp_path, "f", offset, limit) == wanted


async def test_a_limit_of_any_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n" * 5000)
    told = await said(read_tool(world_of(tmp_path)), path="f", limit=10**30)
    assert "[Lines 1-2000 of 5000 are shown, cut at 2000 lines." in told


async def test_empty_lines_count(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n\n\nb\n")
    assert await read(tmp_path, "f", 1, 2) == (
        "a\n\n\n[2 lines more in the file. Go on with offset=3.]"
    )
    assert await read(tmp_path, "f", 3, 1) == "[1 line more in the file. Go on with offset=4.]"
    assert await read(tmp_path, "f", 3) == "\nb\n"


async def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert await read(tmp_path, "f") == "[The file is empty.]"
    assert await read(tmp_path, "f", 2) == "offset 2 is beyond the end: f has 0 lines."


async def test_a_long_file_is_cut_at_lines_and_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {n}\n" for n in range(1, 4501)))
    output = await run_tool(read_tool(world_of(tmp_path)), path="f", offset=1001)
    (text,) = output.content
    assert text.type == "text"
    body, note = text.text.split("\n\n")
    assert body.startswith("line 1001\n") and body.endswith("\nline 3000")
    assert note == (
        "[Lines 1001-3000 of 4500 are shown, cut at 2000 lines. Go on with offset=3001.]"
    )
    assert isinstance(output.details, dict)
    assert output.details["truncation"] == {
        "truncated": True,
        "truncatedBy": "lines",
        "totalLines": 3500,
        "totalBytes": 35000,
        "outputLines": 2000,
        "outputBytes": 19999,
        "lastLinePartial": False,
        "firstLineExceedsLimit": False,
        "maxLines": 2000,
        "maxBytes": 51200,
    }


async def test_a_wide_file_is_cut_at_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(f"{'é' * 511}\n" * 100)
    text = await read(tmp_path, "f")
    assert text.endswith("[Lines 1-50 of 100 are shown, cut at 50.0KB. Go on with offset=51.]")


async def test_a_line_over_the_limit_shows_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("first\n" + "🙂" * 20_000 + "\nthird\n")
    body, note = (await read(tmp_path, "f", 2)).split("\n\n")
    assert body == "🙂" * 12_800
    assert note == (
        "[Line 2 of 3 has 78.1KB: its first 50.0KB are shown. For the rest of it, search it with"
        " grep or cut it with a command. The next line is offset=3.]"
    )


async def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x = 1\n# caf\xe9\n\x1b[31mred\x07\n")
    assert await read(tmp_path, "f") == (
        "x = 1\n# caf\ufffd\n\u241b[31mred\u2407\n\n"
        "[Not UTF-8: bytes that are not text are shown as \ufffd; an edit leaves them as they are.]"
        "\n"
        "[Control characters are shown as pictures, for example \u241b for escape.]"
    )


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "[f is not text: PDF document, 12B. Its bytes are not shown.]"),
        (b"\x00\x01\x02\x03\xff\nA", "[f is not text: unknown kind, 7B. Its bytes are not shown.]"),
        (
            "text".encode("utf-16"),
            "[f is UTF-16 text, 10B. It is not shown; iconv can turn it into UTF-8.]",
        ),
        (
            b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
            "[f: image/png, 16B. It is not shown: the picture is damaged or incomplete.]",
        ),
        (b"GIF89a is a format\n", "GIF89a is a format\n"),
    ],
)
async def test_what_is_no_text_is_told_with_type_and_size(
    tmp_path: Path, data: bytes, wanted: str
) -> None:
    (tmp_path / "f").write_bytes(data)
    assert await read(tmp_path, "f") == wanted


async def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        for name in ("pipe", "sock"):
            output = await run_tool(read_tool(world_of(tmp_path)), path=name)
            assert output.is_error
            assert await read(tmp_path, name) == (
                f"{name} is not a plain file: it is a device, a pipe or a socket."
            )
    for path in (".", ""):
        assert await read(tmp_path, path) == ". is a folder. List it with ls."
    assert await read(tmp_path, "nothing") == "nothing does not exist."


async def test_the_real_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "it\u2019s.txt").write_text("x\n")
    assert await read(tmp_path, "it's.txt") == (
        f"x\n\n[There is no it's.txt; this is {tmp_path}/it\u2019s.txt, the only one that looks"
        " like it.]"
    )


class Editor(Disk):
    """A disk with one unsaved buffer over it."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._path = path
        self._text = text

    async def stat(self, path: Path) -> Stat | None:
        return Stat("file", len(self._text), dirty=True) if path == self._path else None

    @asynccontextmanager
    async def opened(self, path: Path) -> AsyncIterator[Content | None]:
        async with aclosing(self._pieces()) as pieces:
            yield Content(Stat("file", len(self._text), dirty=True), pieces)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        for at in range(0, len(self._text), 3):
            yield self._text[at : at + 3]

    async def entries(self, path: Path) -> list[Listed]:
        return []

    async def write(
        self,
        path: Path,
        data: bytes,
        *,
        label: str,
        base: bytes | None = None,
        call_id: str = "",
    ) -> Written:
        raise AssertionError("nothing is written")

    def dirty(self) -> Mapping[Path, bytes]:
        return {self._path: self._text}


async def test_unsaved_text_is_read_and_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    files = Editor(tmp_path / "f", b"one\nTWO\n")
    assert await said(read_tool(world_of(tmp_path, files)), path="f") == (
        "one\nTWO\n\n"
        "[This is the unsaved text in the editor. Commands still see the file as last saved.]"
    )
