"""The tree as rows: order, indentation, filters, search and pages, drawn as text."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.history.made import encoded, entry, header, said

from singletree.errors import UnknownEntry
from singletree.history.bodies import Bodies
from singletree.history.outline import Filter, Outline, RowPage
from singletree.history.preview import LENGTH, preview
from singletree.history.recovery import index_of
from singletree.history.tree import SessionTree

Line = dict[str, Any]


def outline_of(*lines: Line) -> Outline:
    raw = [encoded(line) for line in (header(), *lines)]
    content = b"".join(raw)
    tree = SessionTree(index_of(raw))
    return Outline(tree, Bodies(tree, lambda offset, size: content[offset : offset + size]))


def rows(outline: Outline, filter: Filter = "default", **given: Any) -> RowPage:
    wanted: dict[str, Any] = {"search": None, "around": None, "start": 0, "limit": 100, **given}
    return outline.page(filter, **wanted)


def drawn(page: RowPage) -> str:
    """A row a line: indentation, id, `*` on the path, `<` for the leaf, `+n` children, [label]."""
    return "\n".join(
        "  " * row.depth
        + row.entry_id
        + "*" * row.on_path
        + "<" * row.is_leaf
        + (f"+{row.child_count}" if row.child_count > 1 else "")
        + (f" [{row.label}]" if row.label else "")
        for row in page.rows
    )


def with_context(*words: str) -> Line:
    """Words of a person, and what an editor added to them."""
    texts: list[Line] = [{"type": "text", "text": text} for text in words]
    texts.append({"type": "text", "text": "The editor shows a.py.", "context": True})
    return entry("a", None, "message", message={"role": "user", "content": texts})


def call(id_: str, parent: str, **more: Any) -> Line:
    line = said(id_, parent, "", "assistant", stopReason="toolUse", **more)
    line["message"]["content"] = [{"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]
    return line


def result(id_: str, parent: str, text: str = "found") -> Line:
    return said(id_, parent, text, "toolResult", toolCallId="c", toolName="read")


TALK = (
    entry("m1", None, "model_change", provider="p", modelId="m"),
    said("u1", "m1", "look at a.txt"),
    call("a1", "u1"),
    result("r1", "a1"),
    said("a2", "r1", "It says hello.", "assistant"),
    said("u2", "a2", "now b.txt"),
    said("a3", "u2", "No such file.", "assistant"),
    entry("l1", "a3", "label", targetId="a2", label="good"),
    said("u3", "a2", "write Ünïcode"),
    entry("x1", "u3", "usage", kind="k"),
    said("a4", "x1", "Done.", "assistant"),
)

VIEWS = {
    "default": """
u1*
r1*
a2*+2 [good]
  u2
  a3
  u3*
  a4*<""",
    "noTools": """
u1*
a2*+2 [good]
  u2
  a3
  u3*
  a4*<""",
    "userOnly": """
u1*+2
  u2
  u3*<""",
    "labeled": """
a2*< [good]""",
    "all": """
m1*
u1*
a1*
r1*
a2*+2 [good]
  u2
  a3
  l1
  u3*
  a4*<""",
}


@pytest.mark.parametrize("filter", VIEWS)
def test_filters(filter: Filter) -> None:
    assert drawn(rows(outline_of(*TALK), filter)) == VIEWS[filter].strip("\n")


def test_what_a_row_says() -> None:
    page = rows(outline_of(*TALK))
    by_id = {row.entry_id: row for row in page.rows}
    assert (by_id["u1"].type, by_id["u1"].role) == ("message", "user")
    assert (by_id["u1"].parent_id, by_id["r1"].parent_id) == (None, "u1")
    assert (by_id["u1"].preview, by_id["r1"].preview) == ("look at a.txt", "read: found")
    assert by_id["u3"].parent_id == "a2"
    assert by_id["u1"].timestamp.startswith("2026-")
    assert (page.leaf_id, page.previous, page.next) == ("a4", None, None)


def test_a_silent_answer_is_shown_where_it_matters() -> None:
    ended = outline_of(*TALK[:3])
    assert drawn(rows(ended)) == "u1*\na1*<"
    failed = outline_of(*TALK[:2], call("a1", "u1"), result("r1", "a1"))
    assert drawn(rows(failed)) == "u1*\nr1*<"
    error = {**call("a1", "u1")}
    error["message"] = {**error["message"], "stopReason": "error", "errorMessage": "overloaded"}
    shown = rows(outline_of(*TALK[:2], error, result("r1", "a1")))
    assert drawn(shown) == "u1*\na1*\nr1*<"
    assert shown.rows[1].preview == "overloaded"
    forked = outline_of(*TALK[:4], said("u9", "a1", "instead"))
    assert drawn(rows(forked)) == "u1*\na1*+2\n  r1\n  u9*<"


def test_several_starts() -> None:
    page = rows(outline_of(said("a", None, "1"), said("b", None, "2"), said("c", "a", "3")))
    assert drawn(page) == "a*\nc*<\nb"


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("TXT", "u1 u2"),
        ("txt now", "u2"),
        ("good", "a2"),
        ("ünïCODE", "u3"),
        ("read: found", "r1"),
        ("assistant no", "a3"),
        ("a.txt", "u1"),
        ('"role"', ""),
        ("nowhere", ""),
    ],
)
def test_search(search: str, found: str) -> None:
    page = rows(outline_of(*TALK), search=search)
    assert [row.entry_id for row in page.rows] == found.split()


def test_search_sees_through_escapes() -> None:
    line = said("a", None, 'say "hi" \\ caf\u00e9\nnext')
    for raw in (encoded(line), encoded(line).replace("é".encode(), b"\\u00e9")):
        head = encoded(header())
        tree = SessionTree(index_of([head, raw]))
        outline = Outline(tree, Bodies(tree, lambda o, n, c=head + raw: c[o : o + n]))  # type: ignore[misc]  # a default binds the loop's value
        for search in ('"hi"', "\\", "café", "next"):
            assert len(rows(outline, search=search).rows) == 1, search


def test_found_rows_hang_together() -> None:
    page = rows(outline_of(*TALK), search="txt")
    assert [(row.entry_id, row.parent_id, row.depth) for row in page.rows] == [
        ("u1", None, 0),
        ("u2", "u1", 0),
    ]


def test_pages_cover_everything_once() -> None:
    outline = outline_of(*TALK)
    whole = rows(outline, "all").rows
    got: list[Any] = []
    start: int | None = 0
    while start is not None:
        page = rows(outline, "all", start=start, limit=3)
        got += page.rows
        start = page.next
    assert tuple(got) == whole
    last = rows(outline, "all", start=9, limit=3)
    assert last.previous is not None
    assert rows(outline, "all", start=last.previous, limit=3).rows == whole[6:9]


def test_a_page_around_an_entry() -> None:
    outline = outline_of(*TALK)
    for wanted in ("u1", "a2", "a4", "l1", "x1"):
        page = rows(outline, around=wanted, limit=3)
        near = {"l1": "a3", "x1": "u3"}.get(wanted, wanted)
        assert near in [row.entry_id for row in page.rows], wanted
        assert len(page.rows) <= 3
    with pytest.raises(UnknownEntry):
        rows(outline, around="gone")


def test_a_large_tree_against_a_plain_walk() -> None:
    rng = random.Random(5)
    lines = [said("0", None, "x")]
    for n in range(1, 300):
        parent = str(rng.randrange(max(0, n - 6), n)) if rng.random() > 0.03 else None
        lines.append(said(str(n), parent, "x"))
    page = rows(outline_of(*lines), limit=1000)
    below: dict[str | None, list[str]] = {}
    for line in lines:
        below.setdefault(line["parentId"], []).append(line["id"])

    def walk(above: str | None, depth: int) -> list[tuple[str, int]]:
        deeper = depth + (len(below.get(above, ())) > 1 and above is not None)
        return [
            pair for id_ in below.get(above, ()) for pair in [(id_, deeper), *walk(id_, deeper)]
        ]

    assert [(row.entry_id, row.depth) for row in page.rows] == walk(None, 0)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (said("a", None, "one\n two\t three"), "one two three"),
        (call("a", "b"), "read"),
        (entry("a", None, "compaction", summary="## Goal\nall"), "## Goal all"),
        (entry("a", None, "branch_summary", summary="tried"), "tried"),
        (
            entry("a", None, "branch_summary", summary="One went\nand came:\n\n## Goal\nfix"),
            "## Goal fix",
        ),
        (entry("a", None, "branch_summary", summary="It was tried:\n\n"), "It was tried:"),
        (entry("a", None, "compaction", summary="So far:\n\nall"), "So far: all"),
        (entry("a", None, "model_change", provider="p", modelId="m"), "p/m"),
        (entry("a", None, "thinking_level_change", thinkingLevel="high"), "high"),
        (entry("a", None, "label", targetId="b", label="here"), "here"),
        (entry("a", None, "session_info", name="n"), "n"),
        (entry("a", None, customType="idx"), "idx"),
        (entry("a", None, "context_edit", targetId="b"), "b"),
        (entry("a", None, "custom_message", customType="n", content="note"), "note"),
        (entry("a", None, "message", message={"role": "bashExecution", "command": "ls"}), "$ ls"),
        (entry("a", None, "message", message=None), ""),
        (entry("a", None, "future", x=1), ""),
        (with_context("fix it"), "fix it"),
        (said("a", None, "", "assistant", stopReason="aborted"), "(stopped)"),
        (with_context(), "The editor shows a.py."),
    ],
)
def test_previews(line: Line, text: str) -> None:
    assert preview(line) == text


def test_a_preview_is_short() -> None:
    text = preview(said("a", None, "word " * 1000))
    assert len(text) <= LENGTH and text.endswith("…")
