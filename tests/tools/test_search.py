"""grep and find on real folders: bounds, links, unsaved buffers, names that are hard to print."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletree.agent.tool import Tool, ToolRun
from singletree.errors import ToolError
from singletree.globs import translate
from singletree.messages import Text
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.find import FindArgs, find_tool
from singletree.tools.ignore import ignore_around
from singletree.tools.ripgrep import Query, _Reader
from singletree.tools.search import GrepArgs, grep_tool
from singletree.tools.shell import LocalShell


class Buffers(Disk):
    """A disk below an editor with unsaved text."""

    def __init__(self, unsaved: Mapping[Path, bytes]) -> None:
        self.unsaved = unsaved

    def dirty(self) -> Mapping[Path, bytes]:
        return self.unsaved


def world(folder: Path, unsaved: Mapping[Path, bytes] | None = None) -> LocalWorld:
    return LocalWorld(folder, Buffers(unsaved or {}), LocalShell({}))


def make(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def told(tool: Tool, args: GrepArgs | FindArgs) -> str:
    output = await tool.run(args, ToolRun("1", print))
    (block,) = output.content
    assert isinstance(block, Text)
    return block.text


async def grep(
    folder: Path,
    pattern: str,
    *,
    unsaved: Mapping[Path, bytes] | None = None,
    path: str | None = None,
    glob: str | None = None,
    limit: float | None = None,
    context: float | None = None,
) -> str:
    args = GrepArgs(pattern=pattern, path=path, glob=glob, limit=limit, context=context)
    return await told(grep_tool(world(folder, unsaved)), args)


async def find(
    folder: Path, pattern: str, *, path: str | None = None, limit: float | None = None
) -> str:
    return await told(find_tool(world(folder)), FindArgs(pattern=pattern, path=path, limit=limit))


async def test_unsaved_text_is_searched_in_place_of_the_file(tmp_path: Path) -> None:
    make(tmp_path, **{"a.py": "old NEEDLE\n", "sub/b.py": "NEEDLE\n", "c.py": "x\n"})
    unsaved = {tmp_path / "a.py": b"new\n", tmp_path / "c.py": b"x\nNEEDLE here\n"}
    assert (
        await grep(tmp_path, "NEEDLE", unsaved=unsaved) == "c.py:2: NEEDLE here\nsub/b.py:1: NEEDLE"
    )
    assert await grep(tmp_path, "NEEDLE", unsaved=unsaved, path="a.py") == "No line matches."
    assert await grep(tmp_path, "here", unsaved=unsaved, path="c.py") == "c.py:2: NEEDLE here"
    assert await grep(tmp_path, "NEEDLE", unsaved=unsaved, path="sub") == "b.py:1: NEEDLE"
    assert await grep(tmp_path, "NEEDLE", unsaved=unsaved, glob="*.md") == "No line matches."
    (tmp_path / "link.py").symlink_to("c.py")
    assert await grep(tmp_path, "here", unsaved=unsaved, path="link.py") == "link.py:2: NEEDLE here"


async def test_unsaved_and_saved_matches_share_the_limit(tmp_path: Path) -> None:
    make(tmp_path, **{"a.py": "n\nn\n", "b.py": ""})
    text = await grep(tmp_path, "n", unsaved={tmp_path / "b.py": b"n\nn\n"}, limit=3)
    assert text.startswith("a.py:1: n\na.py:2: n\nb.py:1: n\n\n[There are more than 3")


async def test_no_copy_of_a_buffer_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, **{"w/a.py": "", "tmp/x": ""})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    await grep(tmp_path / "w", "secret", unsaved={tmp_path / "w/a.py": b"secret"})
    assert [p.name for p in (tmp_path / "tmp").iterdir()] == ["x"]


async def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, **{"out/secret.txt": "NEEDLE\n", "w/in.txt": "x\n"})
    (tmp_path / "w/out").symlink_to(tmp_path / "out")
    (tmp_path / "w/file").symlink_to(tmp_path / "out/secret.txt")
    named = await grep(tmp_path / "w", "NEEDLE", path="file")
    assert named == "file:1: NEEDLE"
    assert await grep(tmp_path / "w", "NEEDLE") == "No line matches."
    assert await find(tmp_path / "w", "secret*") == "Nothing matches."
    assert await find(tmp_path / "w", "*") == "file\nin.txt\nout"


async def test_git_is_never_searched(tmp_path: Path) -> None:
    make(tmp_path, **{".git/config": "NEEDLE", "sub/.git/x": "NEEDLE", "link/.git": "NEEDLE"})
    assert await grep(tmp_path, "NEEDLE") == "No line matches."
    assert await find(tmp_path, "*") == "link/\nsub/"


async def test_what_is_hidden_does_not_show(tmp_path: Path) -> None:
    make(tmp_path, **{"home/auth.json": "NEEDLE", "home/.ssh/id": "NEEDLE", "home/a": "NEEDLE"})
    (tmp_path / "link").symlink_to("home")
    hidden = [tmp_path / "link/auth.json", tmp_path / "home/.ssh", tmp_path / "elsewhere"]
    tool = grep_tool(world(tmp_path), hidden=hidden)
    assert await told(tool, GrepArgs(pattern="NEEDLE")) == "home/a:1: NEEDLE"
    assert await told(tool, GrepArgs(pattern="NEEDLE", path="home")) == "a:1: NEEDLE"


async def test_limits_are_told(tmp_path: Path) -> None:
    make(tmp_path, **{f"f{n}.txt": "x\n" * 3 for n in range(5)})
    assert (await grep(tmp_path, "x", limit=2)).endswith(
        "[There are more than 2 matching lines. Narrow the search, or set limit to 4.]"
    )
    assert await find(tmp_path, "*.txt", limit=2) == (
        "f0.txt\nf1.txt\n\n[There are more than 2 results; these are the first ones. "
        "Narrow the pattern, or set limit to 4.]"
    )


async def test_context_belongs_to_shown_matches_only(tmp_path: Path) -> None:
    make(tmp_path, **{"a": "1\nX\n3\n4\n5\nX\n7\n"})
    text = await grep(tmp_path, "X", context=2, limit=1)
    assert text.split("\n\n")[0] == "a-1- 1\na:2: X\na-3- 3\na-4- 4"


async def test_a_match_beyond_the_limit_is_context_of_the_last_one(tmp_path: Path) -> None:
    make(tmp_path, **{"a": "X1\nX2\n3\nX4\n", "b": "X1\n"})
    text = await grep(tmp_path, "X", context=2, limit=1, path="a")
    assert text.startswith("a:1: X1\na-2- X2\na-3- 3\n\n[There are more than 1 ")


@pytest.mark.parametrize("pattern", ["./a.py", "!./b.py", "././a.py"])
async def test_a_glob_may_begin_at_the_folder(tmp_path: Path, pattern: str) -> None:
    make(tmp_path, **{"a.py": "X\n", "b.py": "X\n"})
    assert await grep(tmp_path, "X", glob=pattern) == "a.py:1: X"


async def test_an_absolute_glob_is_anchored(tmp_path: Path) -> None:
    make(tmp_path, **{"a.py": "", "sub/b.py": ""})
    assert await find(tmp_path, f"{tmp_path}/*.py") == "a.py"
    assert await find(tmp_path, f"{tmp_path}/sub/*.py", path="sub") == "b.py"
    assert await find(tmp_path, f"{tmp_path}/**/*.py", path="sub") == "b.py"
    assert await find(tmp_path, "/**/B.PY") == "Nothing matches."
    assert await find(tmp_path, "*.py") == "a.py\nsub/b.py"


async def test_a_glob_that_ends_in_a_slash_means_folders(tmp_path: Path) -> None:
    make(tmp_path, **{"sub/a": "", "a/sub": ""})
    assert await find(tmp_path, "sub/") == "sub/"
    assert await find(tmp_path, "*") == "a/\na/sub\nsub/\nsub/a"
    assert await find(tmp_path, "*/") == "a/\nsub/"


@pytest.mark.parametrize(("units", "cut"), [(500, False), (501, True)])
async def test_a_line_is_measured_in_utf16_units(tmp_path: Path, units: int, cut: bool) -> None:
    line = "x" * (units % 2) + "🙂" * (units // 2)
    make(tmp_path, **{"a": f"{line}\n"})
    text = await grep(tmp_path, "🙂")
    assert text.startswith("a:1: " + (line[:250] + " […]\n" if cut else line))


async def test_lines_are_shown_around_their_match(tmp_path: Path) -> None:
    make(tmp_path, **{"min.js": "a" * 5000 + "NEEDLE" + "b" * 5000 + "\n"})
    text = await grep(tmp_path, "NEEDLE")
    line = text.split("\n\n")[0]
    assert line.startswith("min.js:1: […] aaa")
    assert "aNEEDLEb" in line
    assert line.endswith("b […]")
    assert len(line) < 540


async def test_a_line_of_very_many_matches_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first\n" + "é" * 300_000 + "\n")
    told_of = await grep(tmp_path, "é")
    assert told_of.startswith("a.txt:2: éééé")
    assert len(told_of) < 1000


async def test_control_characters_do_not_pass(tmp_path: Path) -> None:
    make(tmp_path, **{"a.txt": "\033[31mNEEDLE\033[0m\x07\n"})
    (tmp_path / os.fsdecode(b"b\xff\033.txt")).write_text("NEEDLE\n")
    assert await grep(tmp_path, "NEEDLE") == "a.txt:1: NEEDLE\nb\ufffd\u241b.txt:1: NEEDLE"
    assert await find(tmp_path, "*b*") == "b\ufffd\u241b.txt"


async def test_what_cannot_be_asked_is_explained(tmp_path: Path) -> None:
    make(tmp_path, **{"a": ""})
    for asking in (
        grep(tmp_path, "("),
        grep(tmp_path, "x", glob="{"),
        grep(tmp_path, "x", path="nope"),
        find(tmp_path, "{a"),
        find(tmp_path, "../*"),
        find(tmp_path, "/etc/*"),
        find(tmp_path, "*", path="a"),
    ):
        with pytest.raises(ToolError):
            await asking


async def test_a_find_can_be_cancelled(tmp_path: Path) -> None:
    with anyio.move_on_after(0) as scope:
        await find(Path("/"), "no-such-name-anywhere")
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", ".py"], ["a.pyc", "x/a.py"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["ba", "x/ba"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "ab"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("a**b", ["ab", "axb"], ["a/b"]),
        ("{a,b*,{c,d}}.x", ["a.x", "bb.x", "d.x"], ["e.x"]),
        ("[a-c]?", ["a1", "cz"], ["d1", "a/"]),
        ("[!a]", ["b"], ["a", "/"]),
        ("[]]", ["]"], ["["]),
        ("\\*", ["*"], ["a"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_globs(pattern: str, yes: list[str], no: list[str]) -> None:
    compiled = re.compile(translate(pattern), re.DOTALL)
    assert [p for p in yes if not compiled.fullmatch(p)] == []
    assert [p for p in no if compiled.fullmatch(p)] == []


PIECES = st.sampled_from(["a", "b", "/", "*", "?", "**/", "[ab]", "[!a]"])
PLAIN = {"*": "[^/]*", "?": "[^/]", "**/": "(?:.*/)?", "[ab]": "[ab]", "[!a]": "[^a/]"}


@given(st.lists(PIECES, max_size=9), st.text("ab/", max_size=9))
@settings(max_examples=1000)
def test_what_is_found_first_is_never_wrong(pieces: list[str], path: str) -> None:
    pattern = plain = ""
    for piece in pieces:
        if not (piece[0] == "*" and pattern.endswith("*")) and (
            piece != "**/" or pattern[-1:] in ("", "/")
        ):
            pattern, plain = pattern + piece, plain + PLAIN.get(piece, piece)
    found = re.fullmatch(translate(pattern), path, re.DOTALL)
    assert bool(found) == bool(re.fullmatch(plain, path, re.DOTALL)), (pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 60 + "b", "a" * 250),
        ("**/d/" * 20 + "x", "d/" * 200),
        ("**/" * 300 + "b", "d/" * 200),
        ("**/*d*/" * 20 + "x", "dd/" * 200),
        ("{*a,*b}" * 6 + "c", "ab" * 100),
    ],
)
def test_no_glob_is_slow(pattern: str, path: str) -> None:
    assert not re.fullmatch(translate(pattern), path, re.DOTALL)


@pytest.mark.parametrize("pattern", ["{" * 500 + "a" + "}" * 500, "{a,b}" * 12, "{a,b,c,d}" * 500])
def test_too_many_braces_are_no_glob(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"too many braces in braces|more than 1000 alternatives"):
        translate(pattern)


async def test_an_ignore_file_cannot_hold_up_a_search(tmp_path: Path) -> None:
    make(tmp_path, **{".gitignore": "*a" * 60 + "b\n", "a" * 250: "x", "b": "x"})
    assert (await find(tmp_path, "b")) == "b"


async def test_numbers_of_any_size(tmp_path: Path) -> None:
    make(tmp_path, **{"a": "x\ny\nx\n"})
    tool = grep_tool(world(tmp_path))
    for number in (1e308, float("inf"), float("nan"), -1.0, 10**30):
        args = GrepArgs(pattern="x", context=number, limit=number)
        assert (await told(tool, args)).startswith("a:1: x")
        assert await find(tmp_path, "a", limit=number) == "a"
    lines = await told(tool, GrepArgs(pattern="x", context=10**9, limit=1))
    assert lines.splitlines()[:2] == ["a:1: x", "a-2- y"]


@pytest.mark.parametrize("pattern", [r"a\nb", "(?=x)"])
async def test_of_what_no_pattern_may_hold_only_the_reason_is_told(
    tmp_path: Path, pattern: str
) -> None:
    with pytest.raises(ToolError, match="ripgrep cannot use the pattern: ") as told:
        await grep(tmp_path, pattern)
    assert "--" not in told.value.message and "flag" not in told.value.message


@pytest.mark.parametrize("name", ["./glob.c", "./a/literal", "/proc/self/fd/7"])
def test_a_file_that_cannot_be_read_is_no_bad_pattern(name: str) -> None:
    query = Query("x", None, False, False, 0, 9, "regex.py", 99)
    found = _Reader(query, ()).result(2, f"rg: {name}: Permission denied (os error 13)\n")
    shown = "regex.py" if name.startswith("/") else name
    assert found.problem == f"rg: {shown}: Permission denied (os error 13)"


async def test_returns_and_what_is_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\rNEEDLE\rtwo\r\n")
    assert await grep(tmp_path, "NEEDLE") == "a:1: one\u240dNEEDLE\u240dtwo"
    for pattern, glob in (("a\0b", None), ("\ud83d", None), ("a", "\0")):
        with pytest.raises(ToolError, match="has a NUL or half a character in it"):
            await grep(tmp_path, pattern, glob=glob)


@pytest.mark.parametrize("pattern", ["[", "[z-a]", "{a", "a}", "\\"])
def test_what_is_no_glob(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        translate(pattern)


NAMES = st.sampled_from(["a", "b", "a.log", "build", "x y", "[z]"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
RULES = st.sampled_from(
    [
        "a", "/a", "a/", "!a", "*.log", "!a.log", "build/", "a/b", "/a/*", "**/b", "a/**", "!/a/b",
        "a/**/b", "# a", "\\#a", "[ab]", "[!a]", "?", "x\\ y", "x y ", "\\[z\\]", "*", "!*/",
        "!b", "a*", "", "/", "b/*.log", "!build",
    ]
)  # fmt: skip


@settings(max_examples=40)
@given(st.sets(PATHS, min_size=1, max_size=8), st.lists(RULES, max_size=5), st.lists(RULES))
def test_ignore_rules_are_gits(
    tmp_path_factory: pytest.TempPathFactory,
    paths: set[str],
    outer: list[str],
    inner: list[str],
) -> None:
    """Git itself is asked about every file, in a repository with rules in two folders."""
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for path in sorted(paths):
        target = folder / path
        if not any(parent.is_file() for parent in target.parents) and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("")
    (folder / ".gitignore").write_text("\n".join(outer) + "\n")
    if (folder / "a").is_dir():
        (folder / "a/.gitignore").write_text("\n".join(inner) + "\n")
    said = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z", "-co", "--exclude-standard"],
        capture_output=True,
        check=True,
    )
    wanted = {os.fsdecode(name) for name in said.stdout.split(b"\0") if name}
    assert set(_files(folder)) == wanted


def _files(folder: Path) -> list[str]:
    import threading

    from singletree.tools.find import walk

    rules = ignore_around(str(folder), Path("/nowhere"))
    paths = walk(str(folder), rules, threading.Event())
    return [path[len(str(folder)) + 1 :] for path in paths if not path.endswith("/")]


async def test_a_search_takes_the_path_that_was_meant(tmp_path: Path) -> None:
    make(tmp_path, **{"Cafe\u0301/a.txt": "needle", "b.txt": "needle"})
    instead = "[There is no Café; this is"
    assert (await grep(tmp_path, "needle", path="Café")).startswith("a.txt:1: needle\n\n" + instead)
    assert (await find(tmp_path, "*.txt", path="Café")).startswith("a.txt\n\n" + instead)
    assert (await find(tmp_path, "x", path="Café")).startswith("Nothing matches.\n" + instead)
    for search in (grep, find):
        with pytest.raises(
            ToolError, match=r"bb\.txt does not exist\. Similar names there: b\.txt"
        ):
            await search(tmp_path, "x", path="bb.txt")
    with pytest.raises(ToolError, match=r"b\.txt is a file, not a folder"):
        await find(tmp_path, "x", path="b.txt")


@pytest.fixture
def shut() -> Iterator[Path]:
    """A folder that nobody but root may enter, and nobody who is root to enter it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        Path(name, "shut").mkdir(0o000)
        root = os.geteuid() == 0
        if root:
            os.seteuid(1234)
        yield Path(name, "shut")
        if root:
            os.seteuid(0)


async def test_a_folder_that_may_not_be_read_is_told(shut: Path) -> None:
    for search in (grep, find):
        with pytest.raises(ToolError, match=r"No permission for .*/shut\."):
            await search(shut, "x")


async def test_no_pipe_is_searched(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError, match="pipe is neither a folder nor a plain file"):
        await grep(tmp_path, "x", path="pipe")
    assert await grep(tmp_path, "x") == "No line matches."


async def test_pipes_in_the_place_of_ignore_files_hold_no_search(tmp_path: Path) -> None:
    make(tmp_path, **{"w/a/b.txt": "needle", "w/.git/info/x": "", "w/a/c/d.txt": "needle"})
    for name in (".rgignore", "w/.ignore", "w/.git/info/exclude", "w/a/.gitignore", "w/a/.ignore"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "w/a/c/.gitignore").symlink_to(tmp_path / ".rgignore")
    assert await grep(tmp_path / "w", "needle") == "a/b.txt:1: needle\na/c/d.txt:1: needle"


async def test_a_pipe_that_somebody_holds_open_ends_the_search(tmp_path: Path) -> None:
    make(tmp_path, **{"a/b.txt": "needle"})
    os.mkfifo(tmp_path / "a/.ignore")
    writer = os.open(tmp_path / "a/.ignore", os.O_RDWR)
    try:
        with pytest.raises(ToolError, match=r"a/\.ignore stands in the place of an ignore file"):
            await grep(tmp_path, "needle")
    finally:
        os.close(writer)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [".gitignore", ".ignore", "sub/.gitignore"])
async def test_an_ignore_file_without_an_end_ends_the_search(tmp_path: Path, name: str) -> None:
    """ripgrep reads on and on: its memory is bounded, and what it says then is told."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("needle")
    (tmp_path / name).symlink_to("/dev/zero")
    assert "memory" in await grep(tmp_path, "needle")
    assert "sub/a.txt" in await find(tmp_path, "*.txt")


ENDLESS = """
import sys, anyio
from pathlib import Path
from tests.tools.worlds import said, world_of
from singletree.tools.ripgrep import Query, _Reader
from singletree.tools.search import grep_tool

folder = Path(sys.argv[1])
anyio.run(lambda: said(grep_tool(world_of(folder)), pattern="x"))
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_search_dies_with_the_daemon(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".ignore")
    writer = os.open(tmp_path / ".ignore", os.O_RDWR)
    child = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)])
    until(lambda: searching(tmp_path))
    child.kill()
    child.wait()
    until(lambda: not searching(tmp_path))
    os.close(writer)


def searching(folder: Path) -> bool:
    """Whether a program works in this folder."""
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (place / "cwd").readlink() == folder:
                return True
    return False


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.05)
