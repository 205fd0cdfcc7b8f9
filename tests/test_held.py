"""Files that several processes change at once: nothing is lost, no lock of a dead one remains."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from singletree.errors import SessionError
from singletree.held import held
from singletree.model.keys import write_key
from singletree.session.settings.file import write_value
from singletree.session.settings.trust import save_trust

WRITERS = 5
TIMES = 12
KEYS = "from singletree.model.keys import write_key as write"
SETTINGS = "from singletree.session.settings.file import write_value as write"
GO = """
import sys
from pathlib import Path
{names}
print("ready", flush=True)
sys.stdin.readline()
for value in range({times}):
    write(Path({path!r}), f"{name}{{value}}", str(value))
"""


def all_at_once(path: Path, names: str) -> dict[str, object]:
    """Several processes that each add names of their own to one file; what it holds in the end."""
    programs = [
        GO.format(names=names, path=str(path), name=f"writer{n}x", times=TIMES)
        for n in range(WRITERS)
    ]
    running = [
        subprocess.Popen([sys.executable, "-c", p], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for p in programs
    ]
    for one in running:
        assert one.stdout is not None and one.stdout.readline() == b"ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.flush()
    for one in running:
        one.communicate()
        assert one.returncode == 0
    kept: dict[str, object] = json.loads(path.read_text("utf-8"))
    return kept


@pytest.mark.parametrize("names", [KEYS, SETTINGS], ids=["keys", "settings"])
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path, names: str) -> None:
    path = tmp_path / "agent" / "shared.json"
    kept = all_at_once(path, names)
    wanted = {f"writer{n}x{value}" for n in range(WRITERS) for value in range(TIMES)}
    assert set(kept) == wanted
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_decisions_about_trust_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / f"project{n}" for n in range(20)]
    for folder in folders:
        folder.mkdir()
    agent = tmp_path / "agent"
    threads = [threading.Thread(target=save_trust, args=(agent, f, True)) for f in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("trust.json", "singletree/seals.json"):
        assert set(json.loads((agent / name).read_text("utf-8"))) == {str(f) for f in folders}


def test_pi_is_waited_for_while_it_holds_the_file(tmp_path: Path) -> None:
    path, lock = tmp_path / "auth.json", tmp_path / "auth.json.lock"
    lock.mkdir()
    path.write_text("{}", "utf-8")

    def finish() -> None:
        time.sleep(0.2)
        path.write_text('{"pi": {"type": "oauth"}}', "utf-8")
        lock.rmdir()

    other = threading.Thread(target=finish)
    other.start()
    write_key(path, "openai", "k")
    other.join()
    assert set(json.loads(path.read_text("utf-8"))) == {"pi", "openai"}
    assert not lock.exists()


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_lock_that_a_dead_process_left_is_taken_over(tmp_path: Path, seconds: int) -> None:
    lock = tmp_path / "settings.json.lock"
    lock.mkdir()
    when = time.time() + seconds
    os.utime(lock, (when, when))
    write_value(tmp_path / "settings.json", "theme", "dark")
    assert [p.name for p in tmp_path.iterdir()] == ["settings.json"]


def test_one_that_never_lets_go_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "auth.json.lock"
    lock.mkdir()
    ahead = time.time() + 0.4
    os.utime(lock, (ahead, ahead))  # as if it were kept fresh
    with (
        pytest.raises(OSError, match="another program is changing it"),
        held(tmp_path / "auth.json", stale=0.5),
    ):
        raise AssertionError("it was had")
    assert lock.is_dir()


def test_the_next_one_goes_on_where_a_holder_fails(tmp_path: Path) -> None:
    path = tmp_path / "auth.json"
    with pytest.raises(ValueError, match="no"), held(path):
        raise ValueError("no")
    with held(path):
        assert (tmp_path / "auth.json.lock").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_something_else_in_the_place_of_a_lock(tmp_path: Path) -> None:
    (tmp_path / "auth.json.lock").write_text("mine", "utf-8")
    os.utime(tmp_path / "auth.json.lock", (0, 0))
    with pytest.raises(SessionError, match=r"could not be kept in .*: Not a directory"):
        write_key(tmp_path / "auth.json", "openai", "k")
    assert (tmp_path / "auth.json.lock").read_text("utf-8") == "mine"
