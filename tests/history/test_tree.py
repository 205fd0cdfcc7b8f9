"""How entries stand together: paths, leaf, ancestors, and trees that are damaged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.history.made import encoded, entry, header, said

from singletree.errors import UnknownEntry
from singletree.history.index import Index, Kind
from singletree.history.recovery import index_of
from singletree.history.tree import LONGEST_NAME, SessionTree, clean_name


def tree_of(*lines: dict[str, Any]) -> SessionTree:
    return SessionTree(index_of([encoded(line) for line in (header(), *lines)]))


def chain(text: str, **fields: Any) -> SessionTree:
    """`a b<a c<b`: entries and their parents; a `-` is no parent."""
    lines = []
    for word in text.split():
        id_, _, parent = word.partition("<")
        lines.append(entry(id_, parent or None, **fields))
    return tree_of(*lines)


def kinds(tree: SessionTree) -> list[str]:
    return [one.kind for one in tree.index.damage]


def test_a_path_and_its_leaf() -> None:
    tree = chain("a b<a c<b d<a")
    assert tree.leaf == "d"
    assert tree.path() == ["a", "d"]
    assert tree.path("c") == ["a", "b", "c"]
    assert tree.children("a") == ["b", "d"]
    assert tree.children(None) == ["a"]
    with pytest.raises(UnknownEntry):
        tree.path("x")


def test_ancestors_and_what_is_left_behind() -> None:
    tree = chain("a b<a c<b d<c e<b f<e g")
    assert tree.ancestor("d", "f") == "b"
    assert tree.ancestor("d", "d") == "d"
    assert tree.ancestor("d", "b") == "b"
    assert tree.ancestor("d", "g") is None
    assert tree.ancestor(None, "d") is None
    assert tree.left_behind("d", "f") == ["c", "d"]
    assert tree.left_behind("d", "b") == ["c", "d"]
    assert tree.left_behind("b", "d") == []
    assert tree.left_behind("d", "g") == ["a", "b", "c", "d"]
    assert tree.left_behind("d", None) == ["a", "b", "c", "d"]
    assert tree.left_behind(None, "d") == []


def test_labels_and_name() -> None:
    tree = tree_of(
        said("a", None, "x"),
        entry("l1", "a", "label", targetId="a", label="one"),
        entry("n1", "l1", "session_info", name="first"),
        entry("l2", "n1", "label", targetId="a", label="two"),
        entry("l3", "l2", "label", targetId="gone", label="three"),
        entry("l4", "l3", "label", targetId=["a"], label="four"),
        entry("n2", "l4", "session_info", name=" second\r\nline "),
    )
    assert dict(tree.labels) == {"a": "two"}
    assert tree.name == "second line"
    assert clean_name("\n") is None


def test_labels_and_name_are_one_short_line_each() -> None:
    """Also of a file that somebody else wrote, and without what a screen would obey."""
    tree = tree_of(
        said("a", None, "x"),
        entry("l1", "a", "label", targetId="a", label="one\ntwo\u2028\x1b[31mred"),
        entry("n1", "l1", "session_info", name="n" * 1_000_000),
    )
    assert dict(tree.labels) == {"a": "one two [31mred"}
    assert tree.name == "n" * (LONGEST_NAME - 1) + "…"


def test_marks_of_the_leaf_are_hidden() -> None:
    mark: dict[str, Any] = {"customType": "singletree.leaf", "data": {}}
    tree = tree_of(
        said("a", None, "x"), said("b", "a", "y"), entry("m", "a", **mark), said("c", "m", "z")
    )
    assert tree.path() == ["a", "c"]
    assert tree.count == 3
    with pytest.raises(UnknownEntry):
        tree.row("m")
    ended = tree_of(said("a", None, "x"), entry("m", None, **mark))
    assert ended.leaf is None and ended.path() == []
    twice = tree_of(said("a", None, "x"), entry("m", "a", **mark), entry("k", "m", **mark))
    assert twice.leaf == "a"


def test_another_custom_entry_is_no_mark() -> None:
    tree = tree_of(entry("a", None, customType="note", data="singletree.leaf"))
    assert tree.leaf == "a" and tree.count == 1


def test_a_missing_parent_makes_a_start() -> None:
    tree = chain("a b<gone c<b")
    assert tree.path() == ["b", "c"]
    assert tree.children(None) == ["a", "b"]
    assert kinds(tree) == ["missing_parent"]


def test_a_parent_may_come_later() -> None:
    tree = chain("b<a c<b a d<c")
    assert tree.path() == ["a", "b", "c", "d"]
    assert kinds(tree) == []
    assert list(tree.index.parents_first(4)) == [2, 0, 1, 3]


@pytest.mark.parametrize("text", ["a<a b<a", "a<b b<a", "a<c b<a c<b", "x a<b b<c c<a d<c"])
def test_a_circle_is_cut(text: str) -> None:
    tree = chain(text)
    assert kinds(tree) == ["parent_circle"]
    for id_ in tree.index.ids:
        assert tree.path(id_)[-1] == id_


def test_a_duplicate_id() -> None:
    tree = chain("a b<a a b<a")
    assert kinds(tree) == ["duplicate_id", "duplicate_id"]
    assert tree.path() == ["a", "b"]
    assert tree.index.parents.tolist() == [-1, 0, -1, 2]


def test_depth_costs_no_stack() -> None:
    tree = tree_of(*(entry(str(n), str(n - 1) if n else None) for n in range(20_000)))
    assert len(tree.path()) == 20_000
    assert tree.left_behind("19999", "5") == [str(n) for n in range(6, 20_000)]


IDS = st.sampled_from("abcdefgh")


@settings(max_examples=200)
@given(st.lists(st.tuples(IDS, st.none() | IDS), max_size=14))
def test_any_tree_can_be_walked(pairs: list[tuple[str, str | None]]) -> None:
    tree = tree_of(*(entry(id_, parent) for id_, parent in pairs))
    order = list(tree.index.parents_first(len(tree.index)))
    assert sorted(order) == list(range(len(pairs)))
    for place, row in enumerate(order):
        assert tree.index.parents[row] in (-1, *order[:place])
    for row in range(len(pairs)):
        path = tree.path_rows(row)
        assert path[-1] == row and len(set(path)) == len(path)


# -- the index


LINE = said("a1b2c3d4", "00000000", "text", "assistant")


@pytest.mark.parametrize("check_from", [0, 1 << 30])
def test_both_ways_of_reading_agree(check_from: int) -> None:
    lines = [
        said("a", None, "x"),
        LINE,
        entry("l", "a", "label", targetId="a", label="x"),
        {"id": "z", "type": "message", "parentId": "a", "message": {"role": "user"}},
        entry("q", "z", "odd", message={"role": "user"}),
        said("ü", "q", "x"),
    ]
    index = Index()
    index.scan(map(encoded, lines), check_from=check_from)
    index.settle()
    assert [index.kind(row) for row in range(len(index))] == [
        Kind("message", "user"),
        Kind("message", "assistant"),
        Kind("label"),
        Kind("message", "user"),
        Kind("odd"),
        Kind("message", "user"),
    ]
    assert index.parents.tolist() == [-1, -1, 0, 0, 3, 4]
    assert [data["id"] for _, data in index.notes] == ["l"]
    assert index.end == sum(len(encoded(line)) for line in lines)
    assert [one.kind for one in index.damage] == ["missing_parent"]


USUAL_IDS = st.sampled_from([f"0000000{n}" for n in range(6)] + ["0-3\u00fc", "000000\u00fc", "a"])
ROLES = st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "custom"])
SORTS = st.sampled_from(["usual", "usual", "usual", "other keys", "no time", "label", "spaces"])


@settings(max_examples=300)
@given(st.lists(st.tuples(SORTS, USUAL_IDS, st.none() | USUAL_IDS, ROLES), max_size=30))
def test_a_head_that_is_cut_out_says_what_the_whole_line_says(
    rows: list[tuple[str, str, str | None, str]],
) -> None:
    lines = []
    for sort, id_, parent, role in rows:
        line = said(id_, parent, "some words", role)
        if sort == "other keys":
            line = {"id": id_, **line}
        elif sort == "no time":
            del line["timestamp"]
        elif sort == "label":
            line = entry(id_, parent, "label", targetId=id_, label="x")
        raw = encoded(line)
        lines.append(raw.replace(b'":', b'": ') if sort == "spaces" else raw)
    trusting, checking = Index(), Index()
    trusting.scan(lines, check_from=1 << 30)
    checking.scan(lines)
    for index in (trusting, checking):
        index.settle()
    assert trusting.ids == checking.ids and trusting.row_of == checking.row_of
    assert trusting.parents == checking.parents
    assert trusting.offsets == checking.offsets and trusting.sizes == checking.sizes
    rows_of = [[index.kind(row) for row in range(len(index))] for index in (trusting, checking)]
    assert rows_of[0] == rows_of[1]
    assert trusting.damage == checking.damage and trusting.notes == checking.notes


@pytest.mark.parametrize("odd", [b'"', b"\\", b"\xff", b"\n"])
@pytest.mark.parametrize("at", range(24, 125, 3))
def test_a_byte_of_a_usual_head_that_is_damaged_is_never_taken_for_an_id(
    odd: bytes, at: int
) -> None:
    lines = [encoded(said(f"0000000{n}", f"0000000{n - 1}" if n else None, "x")) for n in range(4)]
    lines[2] = lines[2][:at] + odd + lines[2][at + 1 :]
    index = Index()
    index.scan(lines, check_from=1 << 30)
    assert set(index.ids) <= {f"0000000{n}" for n in range(4)}
    assert set(index.kinds) <= {Kind("message", "user"), Kind("message", None)}


def test_bodies_are_checked_from_a_place_on() -> None:
    broken = encoded(said("a", None, "x")).replace(b'"text":"x"', b'"text":x"')
    trusting, checking = Index(), Index()
    trusting.scan([broken], check_from=1)
    checking.scan([broken])
    assert (trusting.unreadable, trusting.damage) == (set(), [])
    assert checking.unreadable == {0}
    assert [one.kind for one in checking.damage] == ["broken_line"]


def test_an_unreadable_line_keeps_its_children_in_place() -> None:
    lines = [encoded(line) for line in (said("a", None, "x"), said("b", "a", "y"))]
    index = Index()
    index.scan([lines[0], lines[1].replace(b'"y"', b'"y'), encoded(said("c", "b", "z"))])
    tree = SessionTree(index)
    assert tree.path() == ["a", "c"]
    assert tree.count == 2


def test_a_role_that_stands_behind_the_content_is_read_too() -> None:
    """Other programs order keys as they like; the lines look like ours at their beginning."""
    odd = entry("u2", "u1", "message", message={"content": "behind", "role": "user"})
    index = index_of([*map(encoded, (header(), said("u1", None, "a"), odd, odd | {"id": "u3"}))])
    assert {index.kind(row) for row in range(len(index))} == {Kind("message", "user")}
