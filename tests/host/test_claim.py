"""The place of a shared daemon: taken by one, left whole, never anybody else's."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from singletree.errors import SingletreeError
from singletree.host.claim import Claim
from singletree.host.doorbell import LONGEST, check_place, holder, knock
from singletree.host.places import shared_socket, socket_at


@pytest.fixture
def run() -> Iterator[Path]:
    """A folder with a short path."""
    with tempfile.TemporaryDirectory(prefix="shared-") as root:
        yield Path(root) / "run"


def refused(path: Path) -> str:
    """Why a place cannot be taken."""
    with pytest.raises(SingletreeError) as caught:
        Claim.take(path, patience=0)
    return caught.value.message


def test_a_place_is_its_owners_alone_and_tells_who_has_it(run: Path) -> None:
    path = run / "d.sock"
    assert knock(path) is None
    assert holder(path) is None
    claim = Claim.take(path)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    claim.say("1.2.3", (1, 2), 7)
    there = holder(path)
    assert there is not None
    assert (there.pid, there.version) == (os.getpid(), "1.2.3")
    assert (there.protocols, there.clients) == ((1, 2), 7)
    claim.say("1.2.3", (1,), 0)
    assert refused(path) == f"A daemon listens at {path} already (process {os.getpid()})."
    client = knock(path)
    assert client is not None
    client.close()
    claim.leave()
    claim.leave()
    assert knock(path) is None
    assert holder(path) is None
    Claim.take(path).leave()


def test_what_says_nothing_of_sense_is_still_a_holder(run: Path) -> None:
    path = run / "d.sock"
    claim = Claim.take(path)
    for line in (b"", b"\xff\xfe=", b"pid=x version protocols=a,,2 clients=-1", b"pid=\xb2"):
        path.with_name("d.sock.lock").write_bytes(line)
        there = holder(path)
        assert there is not None
        assert (there.pid, there.version, there.clients) == (0, "", 0)
    claim.leave()


def test_a_living_ones_socket_is_left_alone_whatever_became_of_its_lock(run: Path) -> None:
    path = run / "d.sock"
    first = Claim.take(path)
    path.with_name("d.sock.lock").unlink()
    assert refused(path) == f"A daemon listens at {path} already (process unknown)."
    path.unlink()
    second = Claim.take(path)
    first.leave()
    assert path.exists()
    client = knock(path)
    assert client is not None
    client.close()
    second.leave()
    assert not path.exists()


def test_a_socket_that_a_crash_left_is_replaced(run: Path) -> None:
    run.mkdir(mode=0o700)
    path = run / "d.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    claim = Claim.take(path)
    client = knock(path)
    assert client is not None
    client.close()
    claim.leave()


def test_who_is_hidden_may_show_again(run: Path) -> None:
    path = run / "d.sock"
    claim = Claim.take(path)
    claim.hide()
    assert knock(path) is None
    claim.show()
    claim.show()
    client = knock(path)
    assert client is not None
    client.close()
    claim.hide()
    claim.leave()
    assert [entry.name for entry in run.iterdir()] == ["d.sock.lock"]


def test_nothing_of_anybody_elses_is_removed_or_trusted(run: Path) -> None:
    path = run / "d.sock"
    run.mkdir(mode=0o700)
    path.write_text("mine")
    assert refused(path) == f"{path} is there and is no socket; move it away."
    assert path.read_text() == "mine"
    path.unlink()
    os.mkfifo(path)
    assert refused(path) == f"{path} is there and is no socket; move it away."
    path.unlink()
    path.symlink_to(run / "elsewhere.sock")
    assert refused(path) == f"{path} is there and is no socket; move it away."
    run.chmod(0o720)
    told = f"Others may write in the folder {run}; the daemon's socket needs one of your own."
    assert refused(path) == told
    with pytest.raises(SingletreeError, match="Others may write"):
        knock(path)
    run.chmod(0o700)
    assert refused(path / "x" / "d.sock").startswith("The folder ")


def test_a_lock_that_is_a_pipe_holds_nobody_up(run: Path) -> None:
    run.mkdir(mode=0o700)
    path = run / "d.sock"
    os.mkfifo(run / "d.sock.lock")
    assert holder(path) is None
    claim = Claim.take(path)
    claim.say("1", (1,), 1)
    there = holder(path)
    assert there is not None
    assert there.pid == 0
    claim.leave()


def test_a_folder_that_vanishes_takes_nobody_along(run: Path) -> None:
    path = run / "d.sock"
    claim = Claim.take(path)
    for entry in run.iterdir():
        entry.unlink()
    run.rmdir()
    claim.say("1", (1,), 1)
    claim.hide()
    claim.show()
    claim.leave()


@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST, 4000])
def test_a_path_that_no_socket_can_have_is_told(length: int) -> None:
    folder = f"/nowhere/{'x' * (length - len('/nowhere//d.sock'))}"
    path = Path(folder) / "d.sock"
    assert len(str(path)) == length
    if length < LONGEST:
        check_place(path)
        return
    with pytest.raises(SingletreeError, match="too long for a socket"):
        check_place(path)


def test_a_long_agent_folder_has_its_socket_in_the_runtime_folder() -> None:
    short, long = "/home/kim/agent", "/home/kim/" + "x" * 90
    run = {"XDG_RUNTIME_DIR": "/run/user/7"}
    assert shared_socket({"PI_CODING_AGENT_DIR": short, **run}) == Path(
        "/home/kim/agent/singletree/run/daemon.sock"
    )
    found = shared_socket({"PI_CODING_AGENT_DIR": long, **run})
    assert found.parent == Path("/run/user/7/singletree")
    assert found != shared_socket({"PI_CODING_AGENT_DIR": long + "y", **run})
    assert str(shared_socket({"PI_CODING_AGENT_DIR": long})).startswith(long)


@pytest.mark.parametrize("address", ["", "unix://", "/tmp/x", "tcp://127.0.0.1:1", "unix:/x"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(SingletreeError, match="no place to listen at"):
        socket_at(address)


def test_an_address_is_a_whole_path() -> None:
    assert socket_at("unix:///run/d.sock") == Path("/run/d.sock")
    assert socket_at("unix://d.sock") == Path.cwd() / "d.sock"


def test_who_comes_in_a_crowd_waits_for_room(run: Path) -> None:
    path = run / "d.sock"
    run.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(0)
    first = knock(path)
    assert first is not None

    def let_in() -> None:
        time.sleep(0.1)
        listener.accept()[0].close()

    with listener, first, ThreadPoolExecutor() as other:
        other.submit(let_in)
        second = knock(path)
        assert second is not None
        second.close()


def test_a_full_backlog_is_no_daemon_to_wait_for(run: Path) -> None:
    path = run / "d.sock"
    claim = Claim.take(path)
    waiting: list[socket.socket] = []
    with pytest.raises(SingletreeError, match="cannot be reached"):
        while len(waiting) < 1000 and (client := knock(path, 0.2)) is not None:
            waiting.append(client)
    for client in waiting:
        client.close()
    claim.leave()
