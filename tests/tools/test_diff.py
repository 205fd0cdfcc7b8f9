"""The diff that people see: it is the change, no more, and its patch applies."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.diff import Change, apply, blocks, merged, numbered, patch
from singletree.tools.match import View


def shown(text: str, *changes: Change) -> tuple[str, str]:
    view = View(text)
    found = merged(blocks(view, changes))
    return numbered(view, found), patch(view, found, "f")


def test_lines_have_their_numbers_and_gaps_are_marked() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 31))
    at, until = text.index("line 10\n"), text.index("line 12\n")
    diff, unified = shown(text, Change(at, until, "new\n"), Change(len(text), len(text), "end"))
    assert diff == (
        "    ...\n  6 line 6\n  7 line 7\n  8 line 8\n  9 line 9\n"
        "-10 line 10\n-11 line 11\n+10 new\n"
        " 12 line 12\n 13 line 13\n 14 line 14\n 15 line 15\n    ...\n"
        " 27 line 27\n 28 line 28\n 29 line 29\n 30 line 30\n+30 end"
    )
    assert unified == (
        "--- f\n+++ f\n"
        "@@ -6,10 +6,9 @@\n line 6\n line 7\n line 8\n line 9\n-line 10\n-line 11\n+new\n"
        " line 12\n line 13\n line 14\n line 15\n"
        "@@ -27,4 +26,5 @@\n line 27\n line 28\n line 29\n line 30\n+end\n"
        "\\ No newline at end of file\n"
    )


def test_strange_characters_are_shown_as_pictures() -> None:
    diff, unified = shown("a\x1b\udcff\n", Change(0, 1, "b"))
    assert diff == "-1 a\u241b\ufffd\n+1 b\u241b\ufffd"
    unified.encode()


LINES = st.lists(st.tuples(st.sampled_from("abc "), st.sampled_from(["\n", "\r\n"])), max_size=40)


@given(LINES, st.booleans(), st.data())
def test_the_patch_makes_the_new_text(
    lines: list[tuple[str, str]], ends: bool, data: st.DataObject
) -> None:
    text = "".join(map("".join, lines)) + ("" if ends else "last")
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True)))
    places = [at - (text[at - 1 : at + 1] == "\r\n") for at in places]
    pairs = zip(places[::2], places[1::2], strict=False)
    changes = [
        Change(start, end, data.draw(st.sampled_from(["", "x", "a\n", "b\nc", "\n"])))
        for start, end in pairs
    ]
    diff, unified = shown(text, *changes)
    before, after = (t.replace("\r\n", "\n") for t in (text, apply(text, changes)))
    assert patched(before, unified) == after
    signs = [line[0] for line in diff.split("\n") if line]
    rows = [line[0] for line in unified.split("\n")[2:] if line]
    assert [signs.count(sign) for sign in "+-"] == [rows.count(sign) for sign in "+-"]


def patched(text: str, unified: str) -> str:
    old = re.findall(r"[^\n]*\n|[^\n]+$", text)
    out, at = list[str](), 0
    for row in re.findall(r"[^\n]*\n(?:\\ No newline at end of file\n)?", unified)[2:]:
        if row.startswith("@@"):
            start, count = map(int, row.split()[1][1:].split(","))
            out += old[at : start - (1 if count else 0)]
            at = start - (1 if count else 0)
            continue
        line = row[1:].removesuffix("\n\\ No newline at end of file\n")
        if row[0] in "- ":
            assert old[at] == line
            at += 1
        if row[0] in "+ ":
            out.append(line)
    return "".join(out + old[at:])
