"""Where sessions live: names, opening, finding, listing, forks, older versions, the trash."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.history.made import answer, encoded, entry, header, label, rename, said, user, write

from singletree.errors import SessionError, SessionLocked, SessionUnreadable, UnknownSession
from singletree.history.entries import (
    CompactionEntry,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
)
from singletree.history.lock import SessionLock
from singletree.history.names import (
    file_name,
    folder_name,
    new_session_id,
    original_path,
    upgraded_path,
    valid_session_id,
)
from singletree.history.store import History, Store

OLD: list[dict[str, Any]] = [
    {"type": "session", "id": "old1", "timestamp": "2025-01-05T08:00:00.000Z", "cwd": "/w"},
    {"type": "message", "timestamp": "t1", "message": {"role": "user", "content": "one"}},
    {
        "type": "message",
        "timestamp": "t2",
        "message": {"role": "hookMessage", "customType": "h", "content": "two"},
    },
    {"type": "compaction", "timestamp": "t3", "summary": "s", "firstKeptEntryIndex": 2},
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agent")


def said_in(store: Store, cwd: str, *texts: str) -> Path:
    history = store.create(cwd)
    for text in texts:
        history.append(user(text))
    history.close()
    return history.file


def ids(history: History) -> list[str]:
    return [e.id for e in history.path()]


# -- names


def test_names(store: Store, tmp_path: Path) -> None:
    path = said_in(store, "/home/me/proj", "hello")
    head = json.loads(path.read_bytes().splitlines()[0])
    assert path.parent == tmp_path / "agent/sessions/--home-me-proj--"
    assert path.name == file_name(head["timestamp"], head["id"])
    assert head["cwd"] == "/home/me/proj" and head["version"] == 3
    assert valid_session_id(head["id"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_ids_are_in_the_order_of_time() -> None:
    made = [new_session_id() for _ in range(50)]
    assert len(set(made)) == 50
    assert all(one[14] == "7" and one[19] in "89ab" for one in made)
    assert [one[:13] for one in made] == sorted(one[:13] for one in made)


def test_an_id_may_be_given(store: Store) -> None:
    history = store.create("/w", id="my-id.1")
    assert history.id == "my-id.1"
    for bad in ("", "a/b", "../x", "-a", "a b"):
        with pytest.raises(SessionError):
            store.create("/w", id=bad)
        assert store.find(bad) is None


@given(st.text(max_size=20))
def test_a_folder_name_is_one_name(cwd: str) -> None:
    assert "/" not in folder_name(cwd) and folder_name(cwd).startswith("--")


def test_a_workspace_whose_name_is_no_utf8_has_its_sessions(store: Store) -> None:
    path = said_in(store, "/w/caf\udce9", "hi")
    assert store.latest("/w/caf\udce9") == path
    assert [one.path for one in store.list("/w/caf\udce9").sessions] == [path]


@pytest.mark.parametrize("letter", ["x", "数"])
def test_a_workspace_may_lie_as_deep_as_it_likes(store: Store, letter: str) -> None:
    deep = [f"/{letter * 50}{'/a' * n}" for n in (70, 140, 1000, 1001)]
    said = [said_in(store, cwd, cwd[-9:]) for cwd in deep]
    assert len({path.parent for path in said}) == 4
    assert [store.latest(cwd) for cwd in deep] == said


def test_copies_of_older_files() -> None:
    path = Path("/x/a_b.jsonl")
    assert upgraded_path(path) == Path("/x/a_b.v3.jsonl")
    assert original_path(upgraded_path(path)) == path
    assert original_path(path) is None


# -- opening


def test_nothing_said_leaves_nothing(store: Store, tmp_path: Path) -> None:
    history = store.create("/w")
    rename(history, "name")
    history.close()
    assert not (tmp_path / "agent").exists()
    assert store.list().sessions == () and store.latest("/w") is None


def test_a_second_opening_names_the_holder(store: Store) -> None:
    path = said_in(store, "/w", "x")
    history = store.open(path)
    with pytest.raises(SessionLocked) as caught:
        store.open(path)
    assert caught.value.detail == {"pid": os.getpid()}
    looked = store.open(path, read_only=True)
    assert looked.read_only and ids(looked) == ids(history)
    looked.close()
    history.close()
    store.open(path).close()


def test_a_new_session_is_locked_as_well(store: Store) -> None:
    history = store.create("/w")
    history.append(user("x"))
    with pytest.raises(SessionLocked):
        store.open(history.file)
    history.close()


def test_what_is_not_there(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownSession):
        store.open(tmp_path / "none.jsonl")
    with pytest.raises(UnknownSession):
        store.open_id(new_session_id())


def test_a_folder_is_no_session(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownSession):
        store.open(tmp_path)
    with pytest.raises(SessionUnreadable):
        store.open(tmp_path / ("x" * 400))


def test_damage_is_told_where_it_cannot_be_copied(store: Store, tmp_path: Path) -> None:
    path = said_in(store, "/w", "x")
    damaged = tmp_path / "agent/singletree/damaged"
    damaged.write_text("a file where a folder should be")
    path.write_bytes(path.read_bytes() + b"{torn")
    history = store.open(path)
    (found,) = history.damage
    assert found.kept is None and found.message == "Line 3 was cut off while it was written."
    history.append(user("on"))
    history.close()


# -- older versions


@pytest.mark.parametrize("version", [None, 1, 2])
def test_an_older_file_goes_on_in_a_copy(store: Store, version: int | None) -> None:
    lines = [dict(line) for line in OLD]
    if version is not None:
        lines[0]["version"] = version
    if version == 2:
        for n, line in enumerate(lines[1:]):
            line |= {"id": f"e{n}", "parentId": f"e{n - 1}" if n else None}
    path = write(store.folder("/w") / "old.jsonl", lines)
    before = path.read_bytes()
    history = store.open(path)
    assert [one.kind for one in history.damage] == ["older_version"]
    first = ids(history)
    assert len(first) == 3
    entries = history.path()
    assert isinstance(entries[1], MessageEntry) and entries[1].message.role == "custom"
    if version != 2:
        assert isinstance(entries[2], CompactionEntry)
        assert entries[2].first_kept_entry_id == first[1]
    assert not upgraded_path(path).exists()
    history.append(answer("on"))
    history.close()
    assert path.read_bytes() == before
    again = store.open(path)
    assert again.file == upgraded_path(path)
    assert ids(again)[:3] == first and len(ids(again)) == 4
    assert again.damage == ()
    assert [one.path for one in store.list().sessions] == [upgraded_path(path)]
    assert store.find("old1") == upgraded_path(path)
    again.close()


DIES = """
import resource, signal, sys
from pathlib import Path
from tests.history.made import answer
from singletree.history.store import Store
history = Store(Path(sys.argv[1])).open(Path(sys.argv[2]))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
history.append(answer("on"))
"""
"""Killed by the write of one byte too many."""


@pytest.mark.parametrize("room", [0, 300, 100_000])
def test_whoever_dies_while_copying_leaves_no_half_a_copy(store: Store, room: int) -> None:
    more = [{**OLD[1], "message": {"role": "user", "content": "x" * 1000}} for _ in range(200)]
    path = write(store.folder("/w") / "old.jsonl", [*OLD, *more])
    agent_dir = path.parents[2]
    run = [sys.executable, "-c", DIES, str(agent_dir), str(path), str(room)]
    assert subprocess.run(run, check=False).returncode == -signal.SIGXFSZ
    assert [one.path for one in store.list().sessions] == [path]
    history = store.open(path)
    assert len(ids(history)) == 203
    history.append(answer("on"))
    history.close()
    again = store.open(path)
    assert (len(ids(again)), again.file) == (204, upgraded_path(path))
    again.close()


def test_an_older_file_with_broken_lines(store: Store) -> None:
    path = write(store.folder("/w") / "old.jsonl", OLD, tail=b"{broken\n[1]\n")
    history = store.open(path)
    assert {one.kind for one in history.damage} == {"broken_line", "older_version"}
    assert len(ids(history)) == 3
    history.close()


def test_an_older_file_for_reading(store: Store) -> None:
    path = write(store.folder("/w") / "old.jsonl", OLD)
    history = store.open(path, read_only=True)
    assert len(ids(history)) == 3 and history.read_only
    history.close()


# -- finding and listing


def test_the_list_is_newest_first_and_comes_in_pages(store: Store) -> None:
    made = [
        write(
            store.folder("/w") / f"{n}.jsonl",
            [header(id=f"s{n}"), said("a", None, f"text {n}", timestamp=1000 + n)],
        )
        for n in range(5)
    ]
    for path in made:
        path.write_bytes(path.read_bytes().replace(b"1767600000000", b"1"))
    page = store.list("/w", limit=2)
    assert [one.id for one in page.sessions] == ["s4", "s3"]
    rest = store.list("/w", limit=2, cursor=page.next)
    last = store.list("/w", limit=2, cursor=rest.next)
    assert [one.id for one in (*rest.sessions, *last.sessions)] == ["s2", "s1", "s0"]
    assert last.next is None


def test_what_a_list_shows(store: Store, tmp_path: Path) -> None:
    history = store.create(str(tmp_path))
    one = history.append(user("please  fix\nthis"))
    history.append(answer("fixed"))
    rename(history, "Fixing")
    history.append(user("and that"))
    (summary,) = store.list(str(tmp_path)).sessions
    assert (summary.preview, summary.leaf_preview, summary.name) == (
        "please fix this",
        "and that",
        "Fixing",
    )
    assert (summary.entry_count, summary.moved, summary.parent) == (4, False, None)
    assert summary.id == history.id and summary.cwd == str(tmp_path)
    assert abs(summary.updated_at - summary.created_at) < 60_000
    history.move(one.id)
    (summary,) = store.list(str(tmp_path)).sessions
    assert summary.leaf_preview == "please fix this"
    assert summary.entry_count == 4
    history.close()


def test_a_search_looks_in_names_and_texts(store: Store) -> None:
    first = said_in(store, "/w", "fix the parser", "then the Größe")
    second = said_in(store, "/w", "other")
    history = store.open(second)
    rename(history, "Parser talk")
    history.close()

    def found(query: str) -> set[Path]:
        return {one.path for one in store.list(query=query).sessions}

    assert found("PARSER") == {first, second}
    assert found("fix größe") == {first}
    assert found("parser talk") == {second}
    assert found("role") == set()
    assert found("") == {first, second}


def test_workspaces_that_share_a_folder_name(store: Store) -> None:
    """`/a/b-c` and `/a/b/c` have one folder; each has its own sessions."""
    one, two = said_in(store, "/a/b-c", "1"), said_in(store, "/a/b/c", "2")
    assert one.parent == two.parent
    assert store.latest("/a/b-c") == one
    assert store.latest("/a/b/c/") == two


def test_the_latest_is_the_one_written_last(store: Store) -> None:
    one, two = said_in(store, "/w", "1"), said_in(store, "/w", "2")
    os.utime(one, (4_000_000_000, 4_000_000_000))
    assert store.latest("/w") == one
    assert store.latest("/elsewhere") is None
    assert two.exists()


def test_a_session_that_does_not_say_where_it_is_of(store: Store) -> None:
    path = write(store.folder("/w") / "x.jsonl", [header(cwd=""), said("a", None, "x")])
    assert store.latest("/w") == path
    assert store.latest("/v") is None


def test_other_files_are_left_alone(store: Store) -> None:
    said_in(store, "/w", "x")
    (store.folder("/w") / "note.txt").write_text("{}")
    (store.folder("/w") / "bad.jsonl").write_text("{broken")
    (store.folder("/w") / "empty.jsonl").write_text("")
    assert len(store.list().sessions) == 1
    assert store.find("bad") is None


def test_a_file_whose_header_is_broken_is_still_the_session_it_is_named_for(store: Store) -> None:
    path = said_in(store, "/w", "keep me")
    session_id = path.stem.rpartition("_")[2]
    path.write_bytes(b"{broken\n" + path.read_bytes().split(b"\n", 1)[1])
    assert store.find(session_id) == store.find(session_id, "/w") == path
    assert store.find(session_id, "/v") is None
    with pytest.raises(SessionUnreadable, match="header"):
        store.open_id(session_id)


def test_one_folder_for_all(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent", tmp_path / "mine")
    path = said_in(store, "/w", "x")
    assert path.parent == tmp_path / "mine"
    assert store.latest("/w") == path and store.latest("/v") is None


# -- forks


def talk(store: Store) -> tuple[History, list[str]]:
    history = store.create("/w")
    made = [history.append(user("one")), history.append(answer("1")), history.append(user("two"))]
    label(history, made[1].id, "mark")
    made.append(history.append(answer("2")))
    return history, [e.id for e in made]


def test_a_fork_before_gives_the_text_back(store: Store) -> None:
    history, (u1, a1, u2, _) = talk(store)
    forked = store.fork(history, u2)
    assert forked.text == "two"
    assert ids(forked.history)[:2] == [u1, a1]
    assert forked.history.labels == {a1: "mark"}
    assert forked.history.header.parent_session == str(history.file)
    assert forked.history.on_disk and forked.history.id != history.id
    assert isinstance(forked.history.path()[-1], LabelEntry)
    assert forked.history.append(user("other")).parent_id == forked.history.tree.path()[-2]
    forked.history.close()
    history.close()


def test_a_fork_before_everything_has_no_file_yet(store: Store) -> None:
    history, (u1, *_) = talk(store)
    forked = store.fork(history, u1)
    assert (forked.text, forked.history.leaf, forked.history.on_disk) == ("one", None, False)
    forked.history.append(user("anew"))
    assert forked.history.on_disk
    forked.history.close()
    history.close()


def test_a_fork_at_leaves_labels_out_of_the_path(store: Store) -> None:
    history, (u1, a1, u2, a2) = talk(store)
    before = history.file and history.file.read_bytes()
    forked = store.fork(history, a2, "at")
    assert forked.text is None
    assert ids(forked.history)[:4] == [u1, a1, u2, a2]
    assert forked.history.entry(a2).parent_id == u2
    assert (history.file and history.file.read_bytes()) == before
    for one in (forked.history, history):
        one.close()


def test_a_fork_keeps_a_compaction_pointing_right(store: Store) -> None:
    history = store.create("/w")
    history.append(user("one"))
    mark = label(history, history.path()[0].id, "x")
    two = history.append(user("two"))
    end = history.append(CompactionEntry(summary="s", first_kept_entry_id=mark.id))
    forked = store.fork(history, end.id, "at").history
    compaction = forked.entry(end.id)
    assert isinstance(compaction, CompactionEntry)
    assert compaction.first_kept_entry_id == two.id
    forked.close()
    history.close()


def test_a_fork_joins_up_around_a_damaged_line(store: Store) -> None:
    lines = [said("a", None, "1"), said("b", "a", "2"), said("c", "b", "3")]
    raw = [encoded(line) for line in (header(), *lines)]
    raw[2] = raw[2].replace(b'"2"', b'"2')
    path = store.folder("/w") / "x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(raw))
    history = store.open(path)
    forked = store.fork(history, "c", "at").history
    assert ids(forked) == ["a", "c"]
    forked.close()
    history.close()


def test_only_before_what_can_be_said_otherwise(store: Store) -> None:
    history, (_, a1, *_) = talk(store)
    with pytest.raises(SessionError):
        store.fork(history, a1)
    note = history.append(CustomMessageEntry(custom_type="n", content="note"))
    forked = store.fork(history, note.id)
    assert forked.text == "note"
    forked.history.close()
    history.close()


def test_forks_of_what_has_no_file(store: Store) -> None:
    quiet = store.create("/w")
    one = quiet.append(CustomMessageEntry(custom_type="n", content="note"))
    forked = store.fork(quiet, one.id, "at").history
    assert (forked.on_disk, ids(forked), forked.header.parent_session) == (False, [one.id], None)


@pytest.mark.parametrize("when", [b"1e999", b"-5", b"1" + b"0" * 300, b"null", b'"x"'])
def test_a_time_that_is_none_does_not_spoil_the_list(store: Store, when: bytes) -> None:
    line = encoded(said("a", None, "hello")).replace(b"1767600000000", when)
    path = store.folder("/w") / "odd.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(encoded(header()) + line)
    (one,) = store.list(None).sessions
    assert (one.id, one.updated_at) == ("s1", 1767600000000)


# -- rescue and trash


def test_a_recovered_copy(store: Store) -> None:
    path = write(store.folder("/w") / "x.jsonl", [said("a", None, "keep"), said("b", "a", "me")])
    path.write_bytes(b"{broken\n" + path.read_bytes() + b"{torn")
    before = path.read_bytes()
    history = store.rescue(path, "/w")
    assert ids(history) == ["a", "b"]
    assert history.header.parent_session == str(path)
    assert path.read_bytes() == before
    history.close()
    assert store.latest("/w") == history.file


def test_what_is_put_away_is_not_lost(store: Store, tmp_path: Path) -> None:
    path = said_in(store, "/w", "precious")
    content = path.read_bytes()
    history = store.open(path)
    with pytest.raises(SessionLocked):
        store.delete(path)
    history.close()
    there = store.delete(path)
    assert there.read_bytes() == content and there.parent == tmp_path / "agent/singletree/trash"
    assert store.list().sessions == ()
    path.write_bytes(content)
    assert store.delete(path) != there
    assert len(list(there.parent.iterdir())) == 2


def test_an_upgraded_session_is_put_away_whole(store: Store) -> None:
    path = write(store.folder("/w") / "old.jsonl", OLD)
    history = store.open(path)
    history.append(user("x"))
    history.close()
    store.delete(history.file)
    assert not path.exists() and store.list().sessions == ()


def test_an_empty_file_is_a_new_session(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.touch()
    history = store.open(path)
    history.append(entry_free())
    assert path.read_bytes().count(b"\n") == 2
    history.close()


def test_two_who_open_an_empty_file_at_once_agree_on_its_header(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "x.jsonl"
    path.touch()
    other = SessionLock.take(tmp_path / "agent" / "singletree" / "locks", str(path))
    with pytest.raises(SessionLocked):
        store.open(path)
    assert path.read_bytes() == b""
    other.release()
    store.open(path).close()
    assert path.read_bytes().count(b"\n") == 1


def entry_free() -> CustomMessageEntry:
    line = entry("", None, "custom_message", customType="n", content="x")
    return CustomMessageEntry.model_validate(line)


def test_a_folder_reached_by_a_link_has_the_sessions_of_the_folder(tmp_path: Path) -> None:
    store, real, link = Store(tmp_path / "agent"), tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    history = store.create(str(real))
    history.append(user("hello"))
    history.close()
    assert store.latest(str(link)) == store.latest(str(real)) == history.file
    assert [one.id for one in store.list(str(link)).sessions] == [history.id]
