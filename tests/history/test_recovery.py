"""Reading a file back: whatever was cut or broken, every whole line before it is there."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.history.made import encoded, entry, header, said, user, write

from singletree.errors import SessionReadOnly, SessionUnreadable
from singletree.history.damage import MOST
from singletree.history.log import Folders
from singletree.history.recovery import recover
from singletree.history.store import History, Store

LINES = [
    header(),
    said("a", None, "first – 数据 🙂"),
    said("b", "a", "second", "assistant"),
    entry("l", "b", "label", targetId="a", label="here"),
    said("c", "l", 'third "quoted" \\ text'),
]
CONTENT = b"".join(map(encoded, LINES))
STARTS = [sum(len(encoded(x)) for x in LINES[:n]) for n in range(len(LINES) + 1)]
properties = settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agent", tmp_path / "sessions")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "sessions" / "s.jsonl", LINES)


def kept_bytes(store: Store, path: Path) -> list[bytes]:
    folder = Folders.under(path.parent.parent / "agent").damaged
    return sorted(one.read_bytes() for one in folder.iterdir()) if folder.is_dir() else []


def test_a_whole_file(store: Store, path: Path) -> None:
    history = store.open(path)
    assert [e.id for e in history.path()] == ["a", "b", "l", "c"]
    assert (history.damage, history.read_only, history.id) == ((), False, "s1")
    assert path.read_bytes() == CONTENT
    history.close()


def test_a_torn_tail_is_kept_aside_and_told_once(store: Store, path: Path) -> None:
    torn = b'{"type":"message","id":"d","par'
    path.write_bytes(CONTENT + torn)
    history = store.open(path)
    (damage,) = history.damage
    assert (damage.kind, damage.line, damage.size) == ("torn_tail", 6, len(torn))
    assert "Line 6" in damage.message and str(damage.kept) in damage.message
    assert damage.kept is not None and damage.kept.read_bytes() == torn
    assert damage.kept.stat().st_mode & 0o777 == 0o600
    made = history.append(user("go on"))
    assert made.parent_id == "c"
    history.close()
    again = store.open(path)
    assert again.damage == ()
    assert [e.id for e in again.path()][-2:] == ["c", made.id]
    assert path.read_bytes().startswith(CONTENT + torn + b"\n")
    again.close()


def test_looking_at_a_file_does_not_count_as_telling(store: Store, path: Path) -> None:
    path.write_bytes(CONTENT + b"{torn")
    assert store.list().sessions[0].entry_count == 4
    store.open(path, read_only=True).close()
    history = store.open(path)
    assert [one.kind for one in history.damage] == ["torn_tail"]
    history.close()


def test_a_broken_line_in_the_middle(store: Store, path: Path) -> None:
    lines = [encoded(line) for line in LINES]
    lines[2] = lines[2].replace(b'"second"', b'"second')
    path.write_bytes(b"".join(lines))
    history = store.open(path)
    assert [(one.kind, one.line) for one in history.damage] == [("broken_line", 3)]
    assert kept_bytes(store, path) == [lines[2].rstrip(b"\n")]
    assert [e.id for e in history.path()] == ["a", "l", "c"]
    assert history.leaf == "c"
    history.close()


def test_two_broken_lines_at_the_end_leave_what_is_before_them(store: Store, path: Path) -> None:
    gone, last = encoded(said("d", "c", "x")), encoded(said("e", "d", "y"))
    path.write_bytes(CONTENT + gone[1:] + last[:-2] + b"\0\n")
    with closing(store.open(path)) as history:
        assert (history.leaf, len(history.damage)) == ("c", 3)
        assert [e.id for e in history.path()] == ["a", "b", "l", "c"]


def test_a_body_that_proves_unreadable_later(store: Store, path: Path) -> None:
    """In a large file the bodies far from the end are read when they are needed."""
    broken = encoded(said("b", "a", "second", "assistant")).replace(b'"second"', b'"second')
    filler = [encoded(entry(f"f{n}", "c", "later", text="x" * 1000)) for n in range(300)]
    last = encoded(said("z", "c", "end"))
    lines = [encoded(line) for line in LINES]
    path.write_bytes(b"".join([*lines[:2], broken, *lines[3:], *filler, last]))
    history = store.open(path)
    assert not history.damage
    version = history.tree_version
    assert [e.id for e in history.path()] == ["a", "l", "c", "z"]
    assert [(one.kind, one.id) for one in history.damage] == [("broken_entry", "b")]
    assert kept_bytes(store, path) == [broken.rstrip(b"\n")]
    assert history.tree_version > version
    assert [e.id for e in history.path()] == ["a", "l", "c", "z"]
    assert len(history.damage) == 1
    assert "b" not in [row.entry_id for row in history.rows("all", limit=500).rows]
    history.close()


def test_a_file_in_tatters_is_told_shortly_and_kept_whole(store: Store, path: Path) -> None:
    tatters = random.Random(1).randbytes(300_000)
    path.write_bytes(CONTENT + tatters + b"\n" + encoded(said("z", "c", "end")))
    history = store.open(path)
    assert [e.id for e in history.path()] == ["a", "b", "l", "c", "z"]
    assert max(Counter(one.kind for one in history.damage).values()) == MOST
    assert "not told" in [one for one in history.damage if one.kind == "broken_line"][-1].message
    kept = b"".join(sorted(kept_bytes(store, path), key=tatters.find))
    assert kept.replace(b"\n", b"") == tatters.replace(b"\n", b"")
    assert len(kept_bytes(store, path)) < 20
    history.close()
    history = store.open(path)
    assert history.damage == ()
    history.close()


def test_a_torn_tail_that_has_its_end_now_is_not_told_again(store: Store, path: Path) -> None:
    path.write_bytes(CONTENT + b"{broken\n\n{torn")
    history = store.open(path)
    assert [one.kind for one in history.damage] == ["broken_line", "torn_tail"]
    history.append(user("more"))
    history.close()
    history = store.open(path)
    assert history.damage == ()
    history.close()


def test_what_was_written_again_behind_its_half_line_is_no_double(store: Store, path: Path) -> None:
    line = encoded(said("d", "c", "x" * 300))
    path.write_bytes(CONTENT + line[:200] + b"\n" + line)
    history = store.open(path)
    assert [one.kind for one in history.damage] == ["broken_line"]
    assert [e.id for e in history.path()] == ["a", "b", "l", "c", "d"]
    history.close()
    history = store.open(path)
    assert history.damage == ()
    history.close()


def test_many_bodies_that_prove_unreadable_are_told_shortly(store: Store, path: Path) -> None:
    broken = [encoded(said(f"b{n}", "a", "x")).replace(b'"x"', b'"\xe4"') for n in range(2 * MOST)]
    filler = [encoded(entry(f"f{n}", "c", "later", text="x" * 1000)) for n in range(300)]
    path.write_bytes(b"".join([CONTENT, *broken, *filler]))
    history = store.open(path)
    assert [e.type for e in history.each("message")] == ["message"] * 3
    assert [one.id for one in history.damage] == [f"b{n}" for n in range(MOST)]
    assert len(kept_bytes(store, path)) == len(broken)
    history.close()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"42\n", "not_an_entry"),
        (b"[1,2]\n", "not_an_entry"),
        (b"{}\n", "not_an_entry"),
        (b'{"type":"message"}\n', "not_an_entry"),
        (b'{"type":"session","id":"again"}\n', "second_header"),
        (b"\0\0\0\0\n", "broken_line"),
        (b'{"type":"custom","id":"q",}\n', "broken_line"),
    ],
)
def test_lines_that_are_no_entries(store: Store, path: Path, line: bytes, kind: str) -> None:
    path.write_bytes(CONTENT[: STARTS[2]] + line + CONTENT[STARTS[2] :])
    history = store.open(path)
    assert [(one.kind, one.line) for one in history.damage] == [(kind, 3)]
    assert [e.id for e in history.path()] == ["a", "b", "l", "c"]
    assert history.entry_count == 4
    assert kept_bytes(store, path) == [line.rstrip(b"\n")]
    history.close()


def test_garbage_before_the_header(store: Store, path: Path) -> None:
    path.write_bytes(b"\n# note\n" + CONTENT)
    history = store.open(path)
    assert [(one.kind, one.line) for one in history.damage] == [("before_header", 2)]
    assert history.leaf == "c"
    history.close()


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + CONTENT, CONTENT.replace(b"\n", b"\r\n")])
def test_other_editors_marks_and_line_ends(store: Store, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    history = store.open(path)
    assert history.damage == ()
    assert [e.id for e in history.path()] == ["a", "b", "l", "c"]
    history.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n\n",
        b"hello\nworld\n",
        b"{broken\n" + encoded(LINES[1]),
        encoded(LINES[1]) + encoded(LINES[0]),
        b'{"type":"session","id":7}\n' + encoded(LINES[1]),
        b"x" * 3_000_000 + b"\n" + CONTENT,
    ],
)
def test_without_a_header_nothing_is_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionUnreadable) as caught:
        recover(path, tmp_path / "damaged")
    assert caught.value.detail == {"path": str(path)}
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_newer_version_is_for_reading(store: Store, path: Path) -> None:
    write(path, [header(version=9), *LINES[1:]])
    history = store.open(path)
    assert [one.kind for one in history.damage] == ["newer_version"]
    assert history.read_only and history.leaf == "c"
    with pytest.raises(SessionReadOnly):
        history.append(user("x"))
    with pytest.raises(SessionReadOnly):
        history.move("a")
    assert store.open(path).leaf == "c"
    history.close()


@properties
@given(st.integers(0, len(CONTENT)))
def test_any_cut_keeps_every_whole_line_before_it(store: Store, path: Path, cut: int) -> None:
    path.write_bytes(CONTENT[:cut])
    whole = [n for n in range(1, len(LINES)) if cut >= STARTS[n + 1] - 1]
    if cut < STARTS[1] - 1:
        with pytest.raises(SessionUnreadable):
            recover(path)
        return
    with closing(store.open(path)) as history:
        assert shown(history) == [LINES[n]["id"] for n in whole]
        made = history.append(user("after"))
    assert path.read_bytes().startswith(CONTENT[:cut])
    with closing(store.open(path)) as again:
        assert (again.leaf, again.damage) == (made.id, ())
        assert shown(again) == [*[LINES[n]["id"] for n in whole], made.id]


@properties
@given(st.integers(STARTS[1], len(CONTENT) - 1), st.integers(0, 255))
def test_any_other_byte_keeps_every_line_but_its_own(
    store: Store, path: Path, at: int, byte: int
) -> None:
    content = bytearray(CONTENT)
    content[at] = byte
    path.write_bytes(content)
    hit = next(n for n in range(len(LINES)) if at < STARTS[n + 1])
    rest = [LINES[n]["id"] for n in range(1, len(LINES)) if n < hit or n > hit + 1]
    with closing(store.open(path)) as history:
        assert [id_ for id_ in shown(history) if id_ in rest] == rest
        for id_ in shown(history):
            assert history.entry(id_).id == id_
        made = history.append(user("after"))
        assert history.path()[-1] == made
    assert path.read_bytes().startswith(bytes(content))
    with closing(store.open(path)) as again:
        assert again.leaf == made.id


def shown(history: History) -> list[str]:
    return [history.tree.index.ids[row] for row in history.tree.rows()]
