"""B062: a child in the background holds the output pipe open."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool

from singletree.messages import text_of
from singletree.tools.bash import bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.shell import LocalShell

COMMANDS = {
    "sleep 3031 & echo hi": 0,
    "setsid sleep 3031 & echo hi": 0,
    "nohup sleep 3031 >/dev/null 2>&1 & echo hi": 0,
    "(while :; do echo x; sleep .1; done) & echo hi": 0,
    "(setsid sh -c 'sleep 3031 & sleep 3031' &) ; echo hi": 0,
    "python3 -m http.server -b 127.0.0.1 0 & sleep 1; echo hi": 1,
}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("command", "own_time"), COMMANDS.items())
async def test_b062_it_returns_and_nothing_is_left(
    command: str, own_time: float, tmp_path: Path
) -> None:
    world = LocalWorld(tmp_path, Disk(), LocalShell(dict(os.environ)))
    began = time.monotonic()
    output = await run_tool(bash_tool(world), command=command)
    took = time.monotonic() - began
    text = text_of(list(output.content))
    assert took < own_time + 2 * 1, took
    assert text.splitlines()[0] == "hi" or "\nhi\n" in text
    assert not output.is_error
    assert "still ran in the background and w" in text
    assert _started_here(tmp_path) == []


def _started_here(folder: Path) -> list[str]:
    """Processes whose working folder is ours."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
