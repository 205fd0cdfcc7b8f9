"""Writing: one write an entry, nothing half in memory, other writers noticed, one holder."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NoReturn

import pytest
from tests.history.made import answer, encoded, files_no_larger_than, label, said, user

from singletree.errors import SessionError, SessionLocked, SessionUnreadable
from singletree.history.entries import CustomEntry, parse
from singletree.history.lock import SessionLock, lock_name
from singletree.history.log import Folders, SessionLog
from singletree.history.store import History, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agent", tmp_path / "sessions")


@pytest.fixture
def history(store: Store) -> Iterator[History]:
    made = store.create("/w")
    made.append(user("first"))
    yield made
    made.close()


def file_of(history: History) -> Path:
    return history.file


def test_a_full_disk_changes_nothing_in_memory(store: Store, history: History) -> None:
    before = (history.leaf, history.entry_count, history.tree_version, history.path())
    content = file_of(history).read_bytes()
    with files_no_larger_than(len(content) + 20), pytest.raises(SessionError, match="written"):
        history.append(user("does not fit"))
    assert (history.leaf, history.entry_count, history.tree_version, history.path()) == before
    assert file_of(history).read_bytes()[: len(content)] == content
    made = history.append(user("now it does"))
    assert made.parent_id == before[0]
    history.close()
    again = store.open(file_of(history))
    assert [e.id for e in again.path()] == [before[0], made.id]
    assert [one.kind for one in again.damage] == ["broken_line"]
    again.close()


def test_a_file_that_cannot_be_made_leaves_nothing(store: Store, tmp_path: Path) -> None:
    history = store.create("/w")
    with files_no_larger_than(30), pytest.raises(SessionError):
        history.append(user("does not fit"))
    assert list((tmp_path / "sessions").iterdir()) == []
    assert list((tmp_path / "agent/singletree/locks").iterdir()) == []
    assert (history.leaf, history.on_disk) == (None, False)
    history.append(user("now it does"))
    assert history.on_disk
    history.close()


def test_a_file_of_the_same_name_is_never_written(store: Store) -> None:
    history = store.create("/w")
    path = file_of(history)
    path.parent.mkdir(parents=True)
    path.write_text("somebody else's")
    with pytest.raises(SessionError):
        history.append(user("x"))
    assert path.read_text() == "somebody else's"


def test_a_missing_last_line_feed_is_written_first(store: Store, history: History) -> None:
    path = file_of(history)
    history.close()
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    again = store.open(path)
    content = path.read_bytes()
    made = again.append(answer("x"))
    assert path.read_bytes().startswith(content + b"\n{")
    assert again.entry(made.id) == made
    assert again.line(made.id) == path.read_bytes().splitlines(keepends=True)[-1]
    again.close()


def test_another_program_may_append(history: History) -> None:
    """pi takes no lock: what it wrote is read in and told; our branch goes on where it was."""
    leaf = history.leaf
    with file_of(history).open("ab") as file:
        file.write(encoded(said("feed0001", leaf, "theirs")))
    made = history.append(answer("ours"))
    assert made.parent_id == leaf
    assert history.tree.children(leaf) == ["feed0001", made.id]
    assert history.entry("feed0001").parent_id == leaf
    assert history.entry(made.id) == made
    assert [(one.kind, one.line) for one in history.damage] == [("foreign_writer", 3)]
    assert (history.take_in(), history.take_in()) == (["feed0001"], [])
    with file_of(history).open("ab") as file:
        file.write(encoded(said("feed0002", made.id, "theirs again")))
    assert history.take_in() == ["feed0002"]
    assert [one.kind for one in history.damage] == ["foreign_writer"]


WRITER = """
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
line, until, number = sys.argv[2], time.monotonic() + 0.1, 0
while time.monotonic() < until:
    number += 1
    os.write(file, line.replace("NUMBER", f"{number:07}").encode())
print(number)
"""


def test_another_program_may_append_at_the_same_moment(store: Store, history: History) -> None:
    theirs = encoded(said("tNUMBER", history.leaf, "theirs")).decode()
    writer = [sys.executable, "-c", WRITER, str(file_of(history)), theirs]
    with subprocess.Popen(writer, stdout=subprocess.PIPE, text=True) as process:
        ours = [history.append(answer("first"))]
        while process.poll() is None:
            ours.append(history.append(answer(f"ours {len(ours)}")))
        number = int(process.communicate()[0])
    assert history.take_in() == [f"t{n:07}" for n in range(1, number + 1)]
    assert [one.kind for one in history.damage] == ["foreign_writer"]
    assert [parse(history.line(one.id)) for one in ours] == ours
    history.close()
    again = store.open(file_of(history))
    assert (again.damage, again.entry_count) == ((), history.entry_count)
    assert again.path(ours[-1].id)[1:] == ours
    again.close()


def test_a_line_that_is_being_written_is_waited_for(store: Store, history: History) -> None:
    """A reader may see the beginning of a line that another program writes in one go."""
    line = encoded(said("feed0001", history.leaf, "theirs"))
    looking = store.open(file_of(history), read_only=True)
    with file_of(history).open("ab", buffering=0) as file:
        file.write(line[:60])
        assert (history.take_in(), looking.take_in()) == ([], [])
        file.write(line[60:])
    assert (history.take_in(), looking.take_in()) == (["feed0001"], ["feed0001"])
    assert [one.kind for one in history.damage] == ["foreign_writer"]
    looking.close()


def test_another_program_may_stop_in_the_middle(store: Store, history: History) -> None:
    with file_of(history).open("ab") as file:
        file.write(b'{"type":"message","id":"feed0001","par')
    made = history.append(answer("ours"))
    assert [one.kind for one in history.damage] == ["foreign_writer", "broken_line"]
    history.close()
    again = store.open(file_of(history))
    assert again.leaf == made.id
    again.close()


def test_who_looks_on_follows_the_writer(store: Store, history: History) -> None:
    looking = store.open(file_of(history), read_only=True)
    made = history.append(answer("second"))
    assert looking.leaf != made.id
    assert looking.take_in()
    assert (looking.leaf, looking.path()[-1]) == (made.id, made)
    history.move(None)
    looking.take_in()
    assert looking.leaf is None
    looking.close()


def test_damage_of_another_program_is_kept_aside(history: History) -> None:
    with file_of(history).open("ab") as file:
        file.write(b"{nonsense\n")
    history.append(answer("ours"))
    kept = [one.kept for one in history.damage if one.kind == "broken_line"]
    assert len(kept) == 1 and kept[0] is not None and kept[0].read_bytes() == b"{nonsense"


def test_one_appends_while_others_read(history: History) -> None:
    """What a reader sees is always a state the session once had."""
    done = threading.Event()
    wrong: list[str] = []

    def read() -> None:
        while not done.is_set():
            page = history.rows("all", limit=10_000)
            shown = [row.entry_id for row in page.rows]
            if len(set(shown)) != len(shown):
                wrong.append("a row twice")
            if [e.id for e in history.path()][: len(shown)] != shown[: len(history.path())]:
                wrong.append("a path that is not the tree's")
            history.entries(limit=20)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(300):
        made = history.append(user(str(n)))
        if n % 50 == 49:
            label(history, made.id, "x")
            history.append(CustomEntry(custom_type=f"t{n}"))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_200_kills_lose_nothing_that_was_acknowledged(store: Store, history: History) -> None:
    path = file_of(history)
    history.close()
    rng = random.Random(1)
    acknowledged: list[str] = []
    for _ in range(200):
        acknowledged += killed_while_appending(store, path, rng.uniform(0.001, 0.02), rng)
        with closing(store.open(path)) as again:
            known = again.tree.index.row_of
            assert [one for one in acknowledged if one not in known] == []
            assert {one.kind for one in again.damage} <= {"torn_tail"}
            assert again.append(answer("after")).parent_id in known
    assert acknowledged


def append_for_ever(store: Store, path: Path, told: int, rng: random.Random) -> NoReturn:
    try:
        other = store.open(path)
        while True:
            made = other.append(user("x" * rng.randrange(20_000)))
            os.write(told, made.id.encode())
    finally:
        os._exit(1)


def killed_while_appending(store: Store, path: Path, after: float, rng: random.Random) -> list[str]:
    """Fork a process that appends and tells each id, and kill it; the ids it told."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        append_for_ever(store, path, theirs, rng)
    os.close(theirs)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as pipe:
        told = pipe.read().decode()
    return [told[n : n + 8] for n in range(0, len(told), 8)]


@pytest.mark.parametrize("change", ["removed", "replaced", "cut"])
def test_a_file_taken_away_is_noticed(history: History, change: str) -> None:
    path = file_of(history)
    match change:
        case "removed":
            path.unlink()
        case "replaced":
            other = path.with_suffix(".new")
            other.write_bytes(path.read_bytes())
            other.replace(path)
        case _:
            os.truncate(path, 10)
    leaf = history.leaf
    with pytest.raises(SessionUnreadable):
        history.append(user("lost?"))
    assert history.leaf == leaf


def test_each_entry_is_one_write(tmp_path: Path) -> None:
    """Two processes that append large lines at once never break each other's."""
    path = tmp_path / "both.jsonl"
    code = (
        "import sys; from pathlib import Path;"
        "from singletree.history.log import Folders, SessionLog;"
        "p = Path(sys.argv[1]); handle = p.open('ab'); folders = Folders.under(p.parent);"
        "log = SessionLog.of_file(p, folders, 's', None, size=0, whole=True);"
        "log.close();"
        "from singletree.history.log import _write_all as write;"
        "[write(handle.fileno(), (sys.argv[2] * 200_000 + '\\n').encode()) for _ in range(20)]"
    )
    path.touch()
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), c]) for c in "xy"]
    assert [child.wait() for child in children] == [0, 0]
    lines = path.read_bytes().split(b"\n")[:-1]
    assert len(lines) == 40
    assert set(lines) == {b"x" * 200_000, b"y" * 200_000}


def test_sync_and_close(history: History) -> None:
    history.append(answer("x"))
    history.sync()
    history.sync()
    history.close()
    history.close()
    history.sync()


def test_who_reads_while_it_is_closed_reads_no_other_file(tmp_path: Path) -> None:
    """The number of a closed handle is given to the next file at once."""
    ours, other = tmp_path / "ours", tmp_path / "other"
    ours.write_bytes(b"a" * 4096)
    other.write_bytes(b"b" * 4096)
    folders = Folders.under(tmp_path)
    for _ in range(30):
        log = SessionLog.of_file(ours, folders, "s", None, size=4096, whole=False)
        seen: set[bytes] = set()

        def look(log: SessionLog = log, seen: set[bytes] = seen) -> None:
            with pytest.raises(SessionUnreadable):
                while True:
                    seen.add(log.read(0, 4096))

        with ThreadPoolExecutor() as pool:
            looking = [pool.submit(look) for _ in range(3)]
            log.close()
            with ExitStack() as files:
                for _ in range(4):
                    files.enter_context(other.open("rb"))
                for one in looking:
                    one.result()
        assert seen <= {b"a" * 4096}


# -- the lock


def test_one_holder(tmp_path: Path) -> None:
    lock = SessionLock.take(tmp_path / "locks", "s1")
    assert (tmp_path / "locks/s1").read_text() == f"{os.getpid()}\n"
    with pytest.raises(SessionLocked) as caught:
        SessionLock.take(tmp_path / "locks", "s1")
    assert caught.value.detail == {"pid": os.getpid()}
    assert str(os.getpid()) in caught.value.message
    SessionLock.take(tmp_path / "locks", "s2").release()
    lock.release()
    lock.release()
    assert list((tmp_path / "locks").iterdir()) == []
    SessionLock.take(tmp_path / "locks", "s1").release()


def test_a_dead_holder_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "s1").write_text("999999\n")
    lock = SessionLock.take(tmp_path, "s1")
    assert (tmp_path / "s1").read_text() == f"{os.getpid()}\n"
    lock.release()


def test_where_the_locks_were_removed_one_still_writes_at_a_time(
    store: Store, history: History, tmp_path: Path
) -> None:
    folder = tmp_path / "agent/singletree/locks"
    shutil.rmtree(folder)
    history.append(user("second"))
    with pytest.raises(SessionLocked):
        store.open_id(history.id)
    shutil.rmtree(folder)
    with closing(store.open_id(history.id)) as other:
        other.append(user("third"))
        with pytest.raises(SessionLocked):
            history.append(user("not here"))
        history.close()
        with pytest.raises(SessionLocked):
            store.open_id(history.id)
        other.append(user("fourth"))
        assert len(other.path()) == other.entry_count == 4


def taken(folder: Path) -> SessionLock:
    """The lock, taken as soon as its holder lets go."""
    while True:
        try:
            return SessionLock.take(folder, "s1")
        except SessionLocked:
            time.sleep(0.001)


def test_many_takers_one_holder_at_a_time(tmp_path: Path) -> None:
    """Files that come and go never give two holders."""
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(15):
            lock = taken(tmp_path)
            inside += 1
            most = max(most, inside)
            inside -= 1
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_names_of_locks() -> None:
    assert lock_name("01a2-b.c") == "01a2-b.c"
    for odd in ("../../x", "", "a/b", "x" * 300, "é", "\ud83d"):
        assert lock_name(odd).startswith("~") and "/" not in lock_name(odd)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="locked"):
        SessionLock.take(tmp_path / "file", "s1")
