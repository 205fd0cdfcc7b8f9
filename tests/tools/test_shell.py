"""Commands as processes: environment, end, background, timeout, cancel, what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from tests.tools.worlds import names

from singletree.errors import ToolError
from singletree.tools import leftovers
from singletree.tools.environment import command_environment
from singletree.tools.leftovers import Command, belonging, process, sweep
from singletree.tools.shell import LocalShell, Wishes
from singletree.tools.world import Exit

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LANG": "C.UTF-8"}


class Ran:
    """A command and its output."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.exit = Exit(None)

    @property
    def text(self) -> str:
        return self.data.decode()


async def ran(
    command: str,
    cwd: Path,
    *,
    limit: float | None = None,
    environment: dict[str, str] | None = None,
    children: Path | None = None,
) -> Ran:
    result = Ran()
    shell = LocalShell(environment or PLAIN, children=children)
    result.exit = await shell.run(command, cwd=cwd, limit=limit, on_output=result.data.extend)
    return result


@pytest.mark.parametrize(
    ("command", "code"),
    [("true", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("nope_xyz", 127)],
)
async def test_exit_codes(command: str, code: int, tmp_path: Path) -> None:
    result = await ran(command, tmp_path)
    assert result.exit == Exit(code)


async def test_both_streams_in_order(tmp_path: Path) -> None:
    result = await ran("echo 1; echo 2 >&2; echo 3", tmp_path)
    assert result.text == "1\n2\n3\n"


async def test_no_keyboard_no_terminal_own_session(tmp_path: Path) -> None:
    script = "cat; test -t 0 || echo no; : 2>/dev/null </dev/tty || echo none; ps -o sid= -p $$"
    result = await ran(script, tmp_path)
    *said, session = result.text.split()
    assert said[0] == "no"
    assert said[-1] == "none"
    assert int(session) != os.getsid(0)


async def test_a_link_stays_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    result = await ran("pwd", tmp_path / "link")
    assert result.text == f"{tmp_path}/link\n"


async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        await ran("true", tmp_path / "gone")


async def test_background_processes_are_ended_and_counted(tmp_path: Path) -> None:
    result = await ran("sleep 60 & setsid sleep 60 & echo hi; echo $!", tmp_path)
    assert result.text.startswith("hi\n")
    assert result.exit == Exit(0, left=2)


async def test_what_a_background_process_says_at_once_is_kept(tmp_path: Path) -> None:
    result, patient = Ran(), LocalShell(PLAIN, idle=10, drain=10)
    command = "(sleep 0.05; echo late) & echo now"
    await patient.run(command, cwd=tmp_path, limit=None, on_output=result.data.extend)
    assert result.text == "now\nlate\n"


async def test_a_timeout_ends_the_whole_tree(tmp_path: Path) -> None:
    result = await ran("(sleep 1; echo late > late) & sleep 9", tmp_path, limit=0.2)
    assert result.exit == Exit(None, "timeout")
    await anyio.sleep(1)
    assert not (tmp_path / "late").exists()


async def test_who_ignores_being_asked_is_killed(tmp_path: Path) -> None:
    result = await ran("trap '' TERM; echo $$; sleep 60", tmp_path, limit=0.3)
    assert await anyio.to_thread.run_sync(_gone, int(result.text))


async def test_a_cancelled_command_is_gone(tmp_path: Path) -> None:
    shell = LocalShell(PLAIN)
    data = bytearray()
    with anyio.move_on_after(0.2):
        await shell.run(
            "setsid sleep 61 & echo $!; sleep 61", cwd=tmp_path, limit=None, on_output=data.extend
        )
    assert await anyio.to_thread.run_sync(_gone, int(data))


@pytest.mark.parametrize("after", [0, 0.001, 0.002, 0.004, 0.008, 0.016])
async def test_a_command_cancelled_while_it_starts_leaves_nothing(
    after: float, tmp_path: Path
) -> None:
    command = "(sleep 1; touch late) & (sleep 1; touch late) & sleep 60"
    with anyio.move_on_after(after):
        await ran(command, tmp_path)
    await anyio.sleep(1.2)
    assert names(tmp_path) == []


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud83d"])
async def test_what_no_shell_takes_is_told(command: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="a NUL or half a character in it: no shell takes it"):
        await ran(command, tmp_path)


async def test_a_command_that_is_too_long_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"too long\. Write it into a file, and run that\."):
        await ran("echo " + "x" * 200_000, tmp_path)


async def test_much_output_is_read_whole(tmp_path: Path) -> None:
    result = await ran("head -c 3000000 /dev/zero", tmp_path)
    assert len(result.data) == 3_000_000


async def test_a_record_stands_while_a_command_runs(tmp_path: Path) -> None:
    children = tmp_path / "children"
    result = await ran(f"sleep 0.2; ls {children}", tmp_path, children=children)
    assert result.text.startswith(f"{os.getpid()}-")
    assert list(children.iterdir()) == []


def test_the_next_start_sweeps_what_a_kill_left(tmp_path: Path) -> None:
    program = (
        "import anyio, os, sys; from pathlib import Path;"
        "from singletree.tools.shell import LocalShell;"
        "s = LocalShell(dict(os.environ), children=Path(sys.argv[1]));"
        "anyio.run(lambda: s.run('setsid sleep 62 & echo $! > pid; sleep 62',"
        " cwd=Path(sys.argv[2]), limit=None, on_output=lambda b: None))"
    )
    children = tmp_path / "children"
    daemon = subprocess.Popen([sys.executable, "-c", program, str(children), str(tmp_path)])
    pid_file = tmp_path / "pid"
    while not (pid_file.exists() and pid_file.read_text().strip()):
        time.sleep(0.02)
    while not list(children.glob("*.json")):
        time.sleep(0.02)
    left = int(pid_file.read_text())
    assert sweep(children) == 0, "its daemon still lives"
    daemon.kill()
    daemon.wait()
    assert process(left) is not None
    assert sweep(children) >= 1
    assert _gone(left)
    assert list(children.iterdir()) == []


def test_a_record_of_another_boot_or_of_nonsense_is_only_removed(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        record = leftovers.Children(tmp_path).note(Command(sleeper.pid, 0, "x"))
        assert record is not None
        text = record.read_text().replace('"boot": "', '"boot": "other-')
        record.write_text(text)
        (tmp_path / "torn.json").write_text('{"daemon": 1')
        assert sweep(tmp_path) == 0
        assert list(tmp_path.iterdir()) == []
        assert sleeper.poll() is None
    finally:
        sleeper.send_signal(signal.SIGKILL)
        sleeper.wait()


def test_an_older_process_with_the_same_number_is_not_ours() -> None:
    sleeper = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        seen = process(sleeper.pid)
        assert seen is not None
        assert [p.pid for p in belonging(Command(sleeper.pid, seen.started, "x"))] == [sleeper.pid]
        assert belonging(Command(sleeper.pid, seen.started + 1, "x")) == []
        assert belonging(Command(sleeper.pid, seen.started - 1, "x")) == []
    finally:
        sleeper.kill()
        sleeper.wait()


def _gone(pid: int) -> bool:
    found = process(pid)
    return found is None or found.dead


GIVEN = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "X_API_KEY": "sk-test-123",
    "COPY_OF_IT": "sk-test-123",
    "ANTHROPIC_AUTH_TOKEN": "t",
    "PI_CODING_AGENT_DIR": "/x",
    "SINGLETREE_DEBUG": "1",
    "NVIM": "/run/nvim.sock",
    "VSCODE_IPC_HOOK": "/x",
    "GIT_ASKPASS": "/vscode/askpass.sh",
    "GITHUB_TOKEN": "kept, it is no model provider's",
    "HTTPS_PROXY": "http://me:secret@proxy:3128/",
    "http_proxy": "me:secret@proxy:3128",
    "NO_PROXY": "localhost",
    "PAGER": "less",
}


def test_what_commands_do_not_see() -> None:
    got = command_environment(GIVEN, Path("/w"))
    text = repr(got)
    assert "sk-test-123" not in text
    assert "secret" not in text
    for name in ("X_API_KEY", "COPY_OF_IT", "ANTHROPIC_AUTH_TOKEN", "NVIM", "VSCODE_IPC_HOOK"):
        assert name not in got
    assert not [name for name in got if name.startswith(("PI_", "SINGLETREE_"))]
    assert got["HTTPS_PROXY"] == "http://proxy:3128/"
    assert got["http_proxy"] == "proxy:3128"
    assert got["GITHUB_TOKEN"] == GIVEN["GITHUB_TOKEN"]
    assert (got["HOME"], got["PWD"], got["NO_PROXY"]) == ("/home/me", "/w", "localhost")
    assert (got["PAGER"], got["GIT_TERMINAL_PROMPT"], got["GIT_ASKPASS"]) == ("cat", "0", "")


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("http://me:secret@[::1", "http://[::1"),
        ("http://me:se/cret@p:1", "http://p:1"),
        ("http://me:se://cret@p:1", "http://p:1"),
        ("http://me:se@cret@p:1/", "http://p:1/"),
    ],
)
def test_a_proxy_s_password_is_taken_out_however_it_is_written(given: str, seen: str) -> None:
    got = command_environment({"HTTP_PROXY": given}, Path("/w"))
    assert got["HTTP_PROXY"] == seen


async def test_what_is_wished_counts_from_the_next_command_on(tmp_path: Path) -> None:
    wishes = Wishes()
    shell = LocalShell({**PLAIN, "X_API_KEY": "sk-123456789", "CI": "1"}, wishes=lambda: wishes)
    told = bytearray()

    async def say(command: str) -> str:
        told.clear()
        await shell.run(command, cwd=tmp_path, limit=20, on_output=told.extend)
        return told.decode()

    asked = 'echo "$X_API_KEY-$CI-$BEFORE-${BASH_VERSION:+bash}"'
    assert await say(asked) == "-1--bash\n"
    wishes = Wishes("/bin/sh", "BEFORE=yes", keep=["X_API_KEY"], drop=["CI"])
    assert (await say(asked)).startswith("sk-123456789--yes-")
    assert await say("echo $0") == "/bin/sh\n"
    wishes = Wishes("/no/shell")
    with pytest.raises(ToolError, match="There is no shell /no/shell, which shellPath"):
        await say("true")


def test_the_user_may_keep_and_drop_names() -> None:
    got = command_environment(GIVEN, Path("/w"), keep=["X_API_*"], drop=["GITHUB_*", "HOME"])
    assert got["X_API_KEY"] == "sk-test-123"
    assert "GITHUB_TOKEN" not in got
    assert "HOME" not in got


def test_what_is_added_is_set_last() -> None:
    got = command_environment(GIVEN, Path("/w"), extra={"PAGER": "mine"})
    assert got["PAGER"] == "mine"
