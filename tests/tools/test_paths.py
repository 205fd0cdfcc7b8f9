"""Paths as they are written, and what they can only have meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.tools.worlds import world_of

from singletree.errors import ToolError
from singletree.tools.paths import locate, locate_new, resolve, trouble


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a.txt", "/w/a.txt"),
        ("./a//b/../c", "/w/a/c"),
        ("@src/a.py", "/w/src/a.py"),
        ("@~/x", "{home}/x"),
        ("~", "{home}"),
        ("~root", "/w/~root"),
        ("/x", "/x"),
        ("//x/y", "/x/y"),
        ("..", "/"),
        ("file:///x/a%20b%C3%A9", "/x/a bé"),
        ("file://localhost/x", "/x"),
        ("shot 9.41\u202fAM.png", "/w/shot 9.41 AM.png"),
        ("", "/w"),
    ],
)
def test_a_path_is_made_absolute(text: str, path: str, own_home: Path) -> None:
    assert str(resolve(text, Path("/w"))) == path.format(home=own_home)


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("@scope/a", "@scope/a"),
        ("`f.txt`", "f.txt"),
        ('"f.txt" ', "f.txt"),
        ("f.txt:12", "f.txt"),
        ("@f.txt:12-20", "f.txt"),
        ("sub/caf\u00e9/x", "sub/cafe\u0301/x"),
        ("nb\u2002sp", "nb\u00a0sp"),
        ("two\u240alines", "two\nlines"),
        ("bad\ufffd", os.fsdecode(b"bad\xff")),
    ],
)
async def test_what_a_path_can_only_have_meant(tmp_path: Path, text: str, real: str) -> None:
    for name in ("@scope/a", "f.txt", real):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    place = await locate(world_of(tmp_path), text)
    assert place.path == tmp_path / real and place.kind == "file"
    assert place.note.startswith("[There is no ") and "\n" not in place.note
    place.note.encode()


async def test_two_that_look_alike_are_none(tmp_path: Path) -> None:
    (tmp_path / "it\u2019s").write_text("x")
    (tmp_path / "it\u2018s").write_text("x")
    with pytest.raises(ToolError, match="it's does not exist"):
        await locate(world_of(tmp_path), "it's")


async def test_only_the_very_same_name_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "it\u2019s").write_text("x")
    (tmp_path / "cafe\u0301").write_text("x")
    world = world_of(tmp_path)
    assert (await locate_new(world, "it's")).kind == ""
    assert (await locate_new(world, "caf\u00e9")).path == tmp_path / "cafe\u0301"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reedme.md", "reedme.md does not exist. Similar names there: readme.md."),
        ("zzz", "zzz does not exist."),
        (
            "scr/a/b.py",
            "scr/a/b.py does not exist. The nearest folder that exists is {cwd}."
            " Similar names there: src.",
        ),
        ("readme.md/x", "readme.md/x does not exist: {cwd}/readme.md is a file, not a folder."),
        ("dead", "dead is a link that leads nowhere."),
        ("a\nb", "a\u240ab does not exist."),
        ("x/" * 5000, "No path is so long: it has 10000 characters."),
        ("a\x00b", "No path can be a\u2400b: it has a NUL or half a character in it."),
        ("a\ud83d", "No path can be a\ufffd: it has a NUL or half a character in it."),
        ("file:///a%00b", "file:///a%00b does not exist."),
    ],
)
async def test_a_missing_path_is_told_with_what_is_near(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "readme.md").write_text("x")
    (tmp_path / "src").mkdir()
    (tmp_path / "dead").symlink_to("nowhere")
    with pytest.raises(ToolError) as error:
        await locate(world_of(tmp_path), text)
    assert error.value.message == said.format(cwd=tmp_path)


def test_the_disk_s_troubles_are_told_in_words() -> None:
    def said(error: OSError, unchanged: bool = False) -> str:
        return trouble("/x", error, unchanged=unchanged).message

    assert said(PermissionError(13, "Permission denied")) == "No permission for /x."
    assert said(OSError(28, "No space"), True) == (
        "No space left on the disk of /x. Nothing was changed."
    )
    assert said(OSError(5, "Input/output error")) == "/x: Input/output error."


async def test_trouble_on_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(ToolError, match="circle of links"):
        await locate(world_of(tmp_path), "round")
