"""Two processes on one session: the second is told who holds it, and takes over from a dead one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.history.made import user

from singletree.errors import SessionLocked
from singletree.history.store import Store

HOLDER = """
import sys, time
from pathlib import Path
from singletree.history.store import Store
history = Store(Path(sys.argv[1])).open(Path(sys.argv[2]))
print("open", flush=True)
time.sleep(60)
"""


def test_b001_the_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent")
    history = store.create("/w")
    one = history.append(user("one"))
    path = history.file
    assert path is not None
    history.close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "agent"), str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "open\n"
    with holder:
        content = path.read_bytes()
        for _ in range(2):
            with pytest.raises(SessionLocked) as caught:
                store.open(path)
            assert caught.value.detail == {"pid": holder.pid}
        assert path.read_bytes() == content
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    again = store.open(path)
    two = again.append(user("two"))
    again.close()
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    known = {line["id"] for line in lines}
    assert {line["parentId"] for line in lines[1:]} <= {None, *known}
    assert [line["id"] for line in lines[1:]] == [one.id, two.id]
    assert two.parent_id == one.id
