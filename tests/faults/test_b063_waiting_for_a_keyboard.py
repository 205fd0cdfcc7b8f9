"""B063: a command that waits for a keyboard, an editor, a pager or a password."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool

from singletree.messages import text_of
from singletree.tools.bash import bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.shell import LocalShell

GOAL = 5
"""Seconds; asserted doubled."""


class Refusing(http.server.BaseHTTPRequestHandler):
    """Wants a password."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="r"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def port() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With a staged change, and in `stuck` a rebase that waits for its message."""
    script = """
        git init -q . && git config user.name a && git config user.email a@b
        seq 1 3000 > big; echo 1 > f; git add .; git commit -qm one
        git checkout -qb side; echo 2 > f; git commit -qam two
        git checkout -q -; echo 3 > f; git commit -qam three
        git clone -q . stuck; cd stuck; git config user.name a; git config user.email a@b
        git rebase origin/side && exit 1
        echo 4 > f; git add f
        cd ..; echo 5 > f; git add f
    """
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run(["bash", "-ec", script], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cat", "(no output)"),
        ("read x; echo got $x", "got"),
        ("git commit", "empty commit message"),
        ("cd stuck && git rebase --continue && git log -1 --format=%s", "three"),
        ("git commit -qm done && git commit --amend && git log -1 --format=%s", "done"),
        ("python3 -c 'open(\"/dev/tty\")'", "No such device or address"),
        ("git clone http://127.0.0.1:{port}/r", "terminal prompts disabled"),
        ("less big | tail -1", "3000"),
        ("git log", "one"),
        ("man bash | head -c 20000000 | wc -l; true", ""),
        ("python3 -c 'print(input())'", "EOFError"),
        ("python3 -c 'import getpass; getpass.getpass()'", ""),
        ("ssh -o ConnectTimeout=1 nobody@127.0.0.1 -p {port}; true", ""),
        ("ed f; true", ""),
    ],
)
async def test_b063_it_ends_by_itself(command: str, said: str, repository: Path, port: int) -> None:
    environment = {**os.environ, "GIT_ASKPASS": "/bin/cat", "EDITOR": "vi", "PAGER": "less"}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(repository)}
    world = LocalWorld(repository, Disk(), LocalShell(environment))
    began = time.monotonic()
    output = await run_tool(bash_tool(world), command=command.replace("{port}", str(port)))
    assert time.monotonic() - began < 2 * GOAL
    assert said in text_of(list(output.content))
