"""edit: what is meant is replaced, and nothing else changes, byte by byte."""

from __future__ import annotations

import json
from hashlib import sha512
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.tools.worlds import names, run_tool, said, world_of

from singletree.agent.tool import parse_args
from singletree.errors import ToolError
from singletree.messages import ToolCall
from singletree.tools.edit import Edit, EditArgs, apply_edits, edit_tool


def edited(data: bytes | str, *edits: tuple[str, str]) -> bytes:
    before = data.encode() if isinstance(data, str) else data
    return apply_edits(before, [Edit(old_text=old, new_text=new) for old, new in edits]).data


def refused(data: bytes | str, *edits: tuple[str, str]) -> str:
    with pytest.raises(ToolError) as error:
        edited(data, *edits)
    return error.value.message


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        # line ends are those of the place
        ("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "b\nc", "b\nx\nc", "a\r\nb\nx\nc\r\n"),
        ("a\rb\rc", "b", "b\nx", "a\rb\rx\rc"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a", "a", "a\nb", "a\nb"),
        ("a\r\n\r\nb", "a\n\nb", "a\nb", "a\r\nb"),
        # the mark at the beginning stays, also when it is given
        ("\ufeffa\n", "\ufeffa", "\ufeffb", "\ufeffb\n"),
        ("\ufeffa\n", "a", "b", "\ufeffb\n"),
        # by looks: quotes, dashes, blanks, Unicode forms, blanks at line ends
        ("say “hi” — now\n", 'say "hi" - now', "done", "done\n"),
        ("x = ‘a’\n", "x = 'a'", "x = 'b'", "x = ‘b’\n"),
        ("a\u00a0b\n", "a b", "a c", "a\u00a0c\n"),
        ("cafe\u0301 1\n", "café 1", "café 2", "cafe\u0301 2\n"),
        ("if x:  \n  y\nz\n", "if x:\n  y\nz", "if x:\n  q\nz", "if x:  \n  q\nz\n"),
        ("“a” “b”  \n", '"a" "b"', '"a" "c"', "“a” “c”\n"),
        ("“a”  \n", '"a"  ', '"b"  ', "“b”  \n"),
        ("x…y\n", "x...y", "x...z", "x…z\n"),
        ("one\u200b two\n", "one two", "one three", "one\u200b three\n"),
        # of several lines only the changed ones change
        (
            "“1”\r\nkeep — it\r\n3\r\n",
            '"1"\nkeep - it\n3',
            '"1"\nkeep - it\n4',
            "“1”\r\nkeep — it\r\n4\r\n",
        ),
        # what read shows of strange bytes stands for them
        ("a\x1b[0m = 1\n", "a␛[0m = 1", "a␛[0m = 2", "a\x1b[0m = 2\n"),
        # another indentation
        (
            "\tif x:\n\t\ty()\n",
            "if x:\n    y()\n",
            "if x:\n    z()\n    w()\n",
            "\tif x:\n\t\tz()\n\t\tw()\n",
        ),
        ("    a\n    b\n", "a\nb", "a\nif b:\n  c", "    a\n    if b:\n      c\n"),
        ("a\n  b\n", "    a\n      b", "    a\n    c", "a\nc\n"),
        ("\ta\n\n\tb\n", "    a\n\n    b", "    a\n\n    c\n        d", "\ta\n\n\tc\n\t\td\n"),
        ("x\n  a“1”\n", '\n    a"1"\n', '\n    a"2"\n', "x\n  a“2”\n"),
        ("a\n\nb", "\nb\n", "", "a\n"),
        ("a\rx\nb\n", "x", "", "a\r\n\nb\n"),
        ("a\rb\nc\n", "b", "\nx", "a\r\n\nx\nc\n"),
        ("  a\n  b", "a\nb\n", "a\nc\n", "  a\n  c"),
        # exact comes first
        ("a - b\na – b\n", "a - b", "X", "X\na – b\n"),
        ("foo\nfoo  \n", "foo  ", "X", "foo\nX\n"),
    ],
)
def test_what_is_meant_is_replaced(before: str, old: str, new: str, after: str) -> None:
    assert edited(before, (old, new)).decode() == after


def test_bytes_that_are_no_text_stay() -> None:
    assert edited(b"x = 1\n# caf\xe9\n", ("x = 1", "x = 2")) == b"x = 2\n# caf\xe9\n"
    assert edited(b"\xc5\xe4\xd6\xc3=1\n", ("1", "2")) == b"\xc5\xe4\xd6\xc3=2\n"
    assert edited(b"caf\xe9 = 1\n", ("caf\ufffd = 1", "caf\ufffd = 2")) == b"caf\xe9 = 2\n"


def test_several_edits_are_found_in_the_file_as_it_was() -> None:
    assert edited("a b\n", ("a", "b"), (" b", " c")) == b"b c\n"
    assert edited("1\n2\n3\n", ("3", "c"), ("1", "a")) == b"a\n2\nc\n"


@pytest.mark.parametrize(
    ("before", "edits", "message"),
    [
        ("a\n", [], "No edits were given. Nothing was changed."),
        (
            "a\n",
            [("a", "b"), ("", "x")],
            "edits[1].oldText is empty. Give the text that is to be replaced; for a new file use"
            " write. Nothing was changed.",
        ),
        (
            "x\ny\nx\n",
            [("x", "z")],
            "oldText is in the file 2 times: in lines 1, 3. Nothing was changed."
            " Add lines from before or after it, so that it fits only one place.",
        ),
        (
            "aaa\n",
            [("aa", "b")],
            "oldText is in the file 2 times: in line 1. Nothing was changed."
            " Add lines from before or after it, so that it fits only one place.",
        ),
        (
            "“a”\n„a“\n",
            [('"a"', "b")],
            "oldText is in the file 2 times: in lines 1, 2. Nothing was changed."
            " Add lines from before or after it, so that it fits only one place.",
        ),
        (
            "a\nb\nc\n",
            [("b\nc", "x"), ("a\nb", "y")],
            "edits[1] and edits[0] change the same text (line 2 of the file). Make them one edit."
            " Nothing was changed.",
        ),
        (
            "a\nb\n",
            [("a\nb", "x"), ("a", "y")],
            "edits[0] and edits[1] change the same text (line 1 of the file). Make them one edit."
            " Nothing was changed.",
        ),
        (
            "a\n",
            [("a", "a")],
            "the file already is as asked: old and new text are the same. Nothing was changed.",
        ),
        (
            "a\n",
            [("   ", "x")],
            "oldText is not in the file. Nothing was changed. Nothing in the file is like it:"
            " read the file, and copy oldText from it.",
        ),
        (
            "one\ntwo\n",
            [("zzz", "two")],
            "oldText is not in the file. Nothing was changed. The new text is there already,"
            " in line 2: perhaps this was changed before.",
        ),
        (
            "def total(items):\n    return sum(items)\n",
            [("def total(item):", "x")],
            "oldText is not in the file. Nothing was changed. The nearest is line 1;"
            " the first difference is in line 1:\n"
            '  file:    "def total(items):"\n'
            '  oldText: "def total(item):"',
        ),
        (
            "a = 1\nb = 2\n\tc = 3\nd = 4\n",
            [("a = 1\nb = 5\n\tc = 3", "x")],
            "oldText is not in the file. Nothing was changed. The nearest is lines 1-3;"
            " the first difference is in line 2:\n"
            '  file:    "b = 2"\n'
            '  oldText: "b = 5"\n'
            "Lines 1-3 of the file:\na = 1\nb = 2\n\tc = 3",
        ),
        # the indentation is not clear: nothing is guessed
        (
            "if x:\n  y\n",
            [("if x:\ny", "z")],
            "oldText is not in the file. Nothing was changed. The nearest is lines 1-2;"
            " the first difference is in line 2:\n"
            '  file:    "  y"\n'
            '  oldText: "y"\n'
            "Lines 1-2 of the file:\nif x:\n  y",
        ),
        ("Foo\n", [("foo", "y")], None),
        ("x = 10\n", [("x = 1 ", "x = 2 ")], None),
        (
            "x\x00y\n",
            [("x", "y")],
            "the file is not text (unknown kind): it cannot be edited. Nothing was changed.",
        ),
    ],
)
def test_what_is_not_clear_changes_nothing(
    before: str, edits: list[tuple[str, str]], message: str | None
) -> None:
    told = refused(before, *edits)
    assert told == message if message else "is not in the file. Nothing was changed." in told


HEX = "\n".join(sha512(str(n).encode()).hexdigest() * 3 for n in range(5000))
"""Lines of the same letters, none like another."""


@pytest.mark.parametrize(
    ("before", "old", "said"),
    [
        ("a\n" * 300_000, "a\n" * 1000 + "b", "The nearest is lines 1-1001;"),
        (("x" * 80 + "\n") * 50_000, ("x" * 80 + "\n") * 500 + "y", "The nearest is lines 1-501;"),
        ("x y" * 1_000_000, " ", "in f at least 1000 times: in line 1."),
        ("a\r\n" * 200_000, "a\n" * 2000, "in f at least 1000 times: in lines 1, 2,"),
        ("\u00a0 a\n" * 100_000, "  a", "in f at least 1000 times: in lines 1, 2,"),
        ("  a\n" * 100_000, "\ta\n\ta", "in f at least 1000 times: in lines 1, 2,"),
        ("é" + " “x” = 1;" * 30_000, '"x" = 1', "in f at least 1000 times: in line 1."),
        (HEX, HEX[:400][::-1], "is not in f. Nothing was changed."),
    ],
    ids=["nearest", "long lines", "one line", "CR LF", "looks", "indent", "minified", "hex"],
)
def test_a_file_that_repeats_itself_costs_little(before: str, old: str, said: str) -> None:
    with pytest.raises(ToolError) as error:
        apply_edits(before.encode(), [Edit(old_text=old, new_text="z")], "f")
    assert said in error.value.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x\r\n" * 5000 + "y\r\n" + "x\r\n" * 5000, "x\r\n" * 4990 + "z\r\n" + "x\r\n" * 5020),
        ("x\r\ny\r\n" * 5000, "y\r\nx\r\n" * 5000 + "z\r\n"),
        ("".join(f"{n}\r\n" for n in range(9000)), "".join(f"{n * 2}\r\n" for n in range(9000))),
    ],
)
@pytest.mark.timeout(30)
def test_thousands_of_lines_are_replaced_at_once(old: str, new: str) -> None:
    edit = Edit(old_text=old.replace("\r", ""), new_text=new.replace("\r", ""))
    assert apply_edits(f"a\n{old}b\n".encode(), [edit], "f").data == f"a\n{new}b\n".encode()


def test_half_a_character_is_not_written() -> None:
    told = "newText has half a character (a lone surrogate) at position 3. Nothing was changed."
    assert refused("x", ("x", "ab\ud83d")).startswith(told)
    assert "edits[1].newText has" in refused("x y", ("x", "z"), ("y", "\udc00"))


def test_many_places_and_long_lines_are_told_shortly() -> None:
    assert "in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more. " in refused("x\n" * 300, ("x", "y"))
    told = refused("y" * 5000 + "\n" + "b\n" * 40, ("y" * 5000 + "z\n" + "b\n" * 30, "q"))
    assert len(told) < 1500 and "…" in told


LINES = st.lists(
    st.tuples(
        st.text(alphabet="ab “”\"'’—-\u00a0\té数\udce9\udcff ", max_size=6),
        st.sampled_from(["\n", "\r\n", "\r", "\n"]),
    ),
    min_size=1,
    max_size=8,
)


@given(LINES, st.data(), st.text(alphabet='ab"-\n x', max_size=8), st.booleans())
def test_only_the_matched_part_changes(
    lines: list[tuple[str, str]], data: st.DataObject, new: str, bom: bool
) -> None:
    text = "".join(content + end for content, end in lines)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    start, end = (at - (text[at - 1 : at + 1] == "\r\n") for at in (start, end))
    plain = text[start:end].replace("\r\n", "\n").replace("\r", "\n")
    old = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in plain)
    if data.draw(st.booleans()):
        old = old.translate(str.maketrans("“”’—\u00a0", '""\'- '))
    raw = ("\ufeff" * bom + text).encode("utf-8", "surrogateescape")
    try:
        result = apply_edits(raw, [Edit(old_text=old, new_text=new)])
    except ToolError as error:
        assert error.message.endswith(("Nothing was changed.", "place.")) or (
            "Nothing was changed. " in error.message
        )
        return
    after = result.data.decode("utf-8", "surrogateescape").removeprefix("\ufeff" * bom)
    before, behind = text[:start], text[end:]
    if result.how == ("exact",) and old == plain:
        assert after.startswith(before) and after.endswith(behind)
        assert len(after) >= len(before) + len(behind)
    elif result.how == ("looks",) and old == old.rstrip():
        content = behind.lstrip(" \t\u00a0")
        to_line_end = content[:1] in ("", "\r", "\n")
        assert after.startswith(before)
        assert after.endswith(content if to_line_end else behind)


@given(st.lists(st.sampled_from(["a", "b", "“c”", "  d", "", "e  "]), min_size=3, max_size=9))
def test_other_lines_are_untouched_whatever_the_way_it_was_found(lines: list[str]) -> None:
    unique = ["first “x”  ", *lines, "\tlast — y", *lines]
    before = "\r\n".join(unique)
    after = edited(before, ('first "x"', "FIRST"), ("    last - y", "    LAST")).decode()
    assert after.split("\r\n") == ["FIRST", *lines, "\tLAST", *lines]


async def test_the_result_tells_blocks_lines_and_how_they_were_found(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("“a”\n\tb\nc\n")
    edits: JsonValue = [
        {"oldText": '"a"', "newText": "A"},
        {"oldText": "    b", "newText": "    B"},
        {"oldText": "c", "newText": "C"},
    ]
    output = await run_tool(edit_tool(world_of(tmp_path)), path="f", edits=edits)
    (block,) = output.content
    assert block.type == "text"
    assert block.text == (
        "Edited f: 3 blocks replaced (lines 1, 2, 3).\n"
        "edits[0].oldText was found although quotes, dashes, blanks or Unicode forms differ.\n"
        "edits[1].oldText was found with another indentation; the new text was indented like the"
        " file."
    )
    assert (tmp_path / "f").read_text() == "A\n\tB\nC\n"
    assert output.details == {
        "diff": "-1 “a”\n-2 \tb\n-3 c\n+1 A\n+2 \tB\n+3 C",
        "patch": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-“a”\n-\tb\n-c\n+A\n+\tB\n+C\n",
        "firstChangedLine": 1,
    }
    assert names(tmp_path) == ["f"]


async def test_a_change_in_a_giant_line_is_shown_shortly(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("var a=1;" * 75_000 + "NEEDLE")
    edits: JsonValue = [{"oldText": "NEEDLE", "newText": "FOUND"}]
    output = await run_tool(edit_tool(world_of(tmp_path)), path="f", edits=edits)
    assert isinstance(output.details, dict)
    diff = output.details["diff"]
    assert isinstance(diff, str)
    assert len(diff) < 5000 and diff.startswith("-1 var a=1;") and diff.endswith("…")
    assert "patch" not in output.details
    (tmp_path / "many").write_text("a\n" * 100_000)
    edits = [{"oldText": "a\n" * 100_000, "newText": "b\n" * 100_000}]
    output = await run_tool(edit_tool(world_of(tmp_path)), path="many", edits=edits)
    assert isinstance(output.details, dict)
    assert len(str(output.details["diff"])) < 201_000
    assert str(output.details["diff"]).endswith("more lines]")


async def test_errors_name_the_path_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    tool = edit_tool(world_of(tmp_path))
    edits: JsonValue = [{"oldText": "zzz", "newText": "b"}]
    assert (await said(tool, path="@f", edits=edits)).startswith("oldText is not in @f. Nothing")
    assert await said(tool, path=".", edits=edits) == ". is a folder, not a file."
    assert await said(tool, path="/dev/null", edits=edits) == (
        "/dev/null is not a plain file: it cannot be edited."
    )
    assert await said(tool, path="g", edits=edits) == "g does not exist."


@pytest.mark.parametrize(
    "raw",
    [
        {"edits": [{"oldText": "a", "newText": "b"}]},
        {"edits": {"oldText": "a", "newText": "b"}},
        {"edits": json.dumps([{"oldText": "a", "newText": "b"}])},
        {"edits": json.dumps({"oldText": "a", "newText": "b"})},
        {"oldText": "a", "newText": "b"},
        {"old_text": "a", "new_text": "b"},
        {"old_string": "a", "new_string": "b"},
        {"edits": [{"old_string": "a", "new_string": "b"}]},
    ],
)
def test_other_shapes_of_the_same_arguments(tmp_path: Path, raw: dict[str, JsonValue]) -> None:
    tool = edit_tool(world_of(tmp_path))
    call = ToolCall(id="1", name="edit", arguments={"path": "f", **raw})
    assert parse_args(tool, call) == EditArgs(path="f", edits=[Edit(old_text="a", new_text="b")])
