"""The sandbox: what it lets through, what it tells, and that nothing gets out of it."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from singletree.tools import bubblewrap, landlock
from singletree.tools.guarantees import GUARANTEES, Mechanism
from singletree.tools.leftovers import sweep
from singletree.tools.sandbox import TEMP_SIZE, SandboxedShell, find_mechanism
from singletree.tools.shell import LocalShell
from singletree.tools.world import Exit

HAVE: dict[Mechanism, bool] = {
    "bubblewrap": bubblewrap.works(),
    "landlock": landlock.abi() >= 4,
}
HERE: list[Mechanism] = [name for name, here in HAVE.items() if here]
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}

every = pytest.mark.parametrize("mechanism", HERE)
wrapped = pytest.mark.parametrize("mechanism", [name for name in HERE if name == "bubblewrap"])
"""For every mechanism, or for one, as far as this machine has them."""


class Ran:
    def __init__(self, ended: Exit, data: bytes) -> None:
        self.ended = ended
        self.text = data.decode("utf-8", "replace")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not in /tmp, of which a command in bubblewrap has one of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="singletree-test-") as folder:
        yield Path(folder)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("w/.git/hooks", "w/src", "keys/.ssh", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "w/.git/config").write_text("[core]\n")
    (tmp_path / "keys/auth.json").write_text("sk-secret")
    (tmp_path / "keys/.ssh/id").write_text("sk-secret")
    (tmp_path / "keys/open.txt").write_text("not secret")
    (tmp_path / "other/file").write_text("kept")
    return tmp_path / "w"


async def ran(
    mechanism: Mechanism,
    command: str,
    workspace: Path,
    *,
    network: bool = False,
    writable: Sequence[Path] = (),
    guarded: Sequence[Path] = (),
    temp_size: int = TEMP_SIZE,
    limit: float | None = 20,
) -> Ran:
    keys = workspace.parent / "keys"
    shell = SandboxedShell(
        LocalShell(ENVIRONMENT),
        workspace=workspace,
        mechanism=mechanism,
        network=network,
        writable=writable,
        guarded=guarded,
        temp_size=temp_size,
        hidden=[keys / "auth.json", keys / ".ssh", keys / "missing"],
        readable=[keys / ".ssh/shown"],
    )
    data = bytearray()
    ended = await shell.run(command, cwd=workspace, limit=limit, on_output=data.extend)
    return Ran(ended, bytes(data))


def test_the_best_that_works_here_is_taken() -> None:
    assert find_mechanism() == (HERE[0] if HERE else "none")


@every
async def test_work_in_the_workspace_runs(mechanism: Mechanism, workspace: Path) -> None:
    command = (
        "pwd && echo new > src/a && mv src/a b && ln -s b c && rm c && mkdir d && echo x >> b"
        " && cat b > /dev/null && echo t > $TMPDIR/t && cat $TMPDIR/t && cat ../other/file"
    )
    result = await ran(mechanism, command, workspace)
    assert result.text == f"{workspace}\nt\nkept"
    assert result.ended == Exit(0)
    assert (workspace / "b").read_text() == "new\nx\n"


@every
@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("true", 0)])
async def test_exit_codes_pass_through(
    mechanism: Mechanism, command: str, code: int, workspace: Path
) -> None:
    assert (await ran(mechanism, command, workspace)).ended == Exit(code)


@every
async def test_a_denial_says_how_to_ask(mechanism: Mechanism, workspace: Path) -> None:
    result = await ran(mechanism, "echo x > ../other/new", workspace)
    assert result.ended.code == 1
    assert result.ended.note == (
        "[The sandbox may have denied this: a command that runs unasked can write only in "
        f"{workspace} and in a temporary folder of its own, and has no network. If it needs more, "
        "call bash again with unconfined set to true: the user is asked.]"
    )
    assert (await ran(mechanism, "false", workspace)).ended.note == ""
    assert (await ran(mechanism, "echo Permission denied", workspace)).ended.note == ""


@every
@pytest.mark.parametrize(
    "command",
    [
        "touch ../other/new 2>&1 | tail -n 5",
        "echo 'mount: /mnt: permission denied.'; false",
        "echo 'curl: (7) Failed to connect to 127.0.0.1 port 9'; exit 7",
        "exec 3<>/dev/tcp/127.0.0.1/9",
    ],
)
async def test_a_denial_is_told_in_any_words(
    mechanism: Mechanism, command: str, workspace: Path
) -> None:
    note = (await ran(mechanism, command, workspace)).ended.note
    assert note.startswith("[The sandbox may have denied this: ")


@every
async def test_what_a_server_refuses_is_not_the_sandbox_s_where_it_has_the_network(
    mechanism: Mechanism, workspace: Path
) -> None:
    command = "echo 'connection refused'; false"
    assert (await ran(mechanism, command, workspace, network=True)).ended.note == ""


@every
async def test_a_timeout_ends_it(mechanism: Mechanism, workspace: Path) -> None:
    result = await ran(mechanism, "sleep 63 & sleep 63", workspace, limit=0.5)
    assert result.ended == Exit(None, "timeout")
    assert _ends("sleep 63")


@every
async def test_more_folders_may_be_writable(mechanism: Mechanism, workspace: Path) -> None:
    other = workspace.parent / "other"
    result = await ran(mechanism, "echo x > ../other/new", workspace, writable=[other])
    assert result.ended == Exit(0)


@every
async def test_something_hidden_may_hold_something_readable(
    mechanism: Mechanism, workspace: Path
) -> None:
    shown = workspace.parent / "keys/.ssh/shown"
    shown.mkdir()
    (shown / "text").write_text("seen")
    result = await ran(mechanism, "cat ../keys/.ssh/shown/text; cat ../keys/.ssh/id", workspace)
    assert result.text.startswith("seen")
    assert "sk-secret" not in result.text


@wrapped
async def test_what_other_programs_run_is_guarded_behind_a_link(
    mechanism: Mechanism, workspace: Path
) -> None:
    (workspace / "kept").mkdir()
    (workspace / ".vscode").symlink_to("kept")
    result = await ran(mechanism, "echo x > kept/tasks.json; echo x > free", workspace)
    assert "Read-only file system" in result.text
    assert (workspace / "free").read_text() == "x\n"


async def test_without_a_mechanism_it_is_the_plain_shell(workspace: Path) -> None:
    result = await ran("none", "echo x > ../other/new && echo done", workspace)
    assert result.text == "done\n"


@wrapped
async def test_what_is_around_a_workspace_in_tmp_is_seen(
    mechanism: Mechanism,
) -> None:
    root = Path(tempfile.mkdtemp(dir="/tmp", prefix="singletree-test-"))
    try:
        (root / "w").mkdir()
        (root / "beside").write_text("seen")
        result = await ran(mechanism, "cat ../beside; echo x > ../new", root / "w")
        assert result.text.startswith("seen")
        assert "Read-only file system" in result.text
        assert not (root / "new").exists()
    finally:
        shutil.rmtree(root)


@wrapped
async def test_a_linked_worktree_can_commit(mechanism: Mechanism, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    main, tree = tmp_path / "main", tmp_path / "tree"
    for command in (
        [*git, "init", "-q", str(main)],
        [*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "one"],
        [*git, "-C", str(main), "worktree", "add", "-q", str(tree)],
    ):
        _plainly(command)
    result = await ran(
        mechanism,
        f"echo x > a && git add a && {' '.join(git)} commit -q -m two && git log --oneline | wc -l",
        tree,
    )
    assert result.text == "2\n"
    result = await ran(mechanism, "git config core.fsmonitor x", tree)
    assert result.ended.code != 0


@wrapped
async def test_a_worktree_that_lies_opens_nothing(mechanism: Mechanism, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "prey/.git/worktrees/w").mkdir(parents=True)
    (tmp_path / "w/.git").write_text(f"gitdir: {tmp_path}/prey/.git/worktrees/w\n")
    result = await ran(mechanism, f"echo x > {tmp_path}/prey/.git/x", tmp_path / "w")
    assert result.ended.code != 0


def test_the_table_answers_for_every_mechanism() -> None:
    for guarantee in GUARANTEES:
        for mechanism in ("bubblewrap", "landlock", "none"):
            assert guarantee.of(mechanism)


# --- escapes ----------------------------------------------------------------------------------


CHANGE_MODE = "chmod 777 ../other/file"
"""What Landlock leaves open: said so in the table."""

LEAVE_PROCESS = "(setsid sleep 64 >/dev/null 2>&1 &); (setsid nohup sleep 64 &) ; true"
"""With Landlock it is our shell that ends these, not the kernel."""

HIDE_PROCESS = "env -i setsid sh -c 'cd /; (sleep 64 >/dev/null 2>&1 &)'; echo left"
"""Without the mark of the command, in a session of its own, its parent gone."""

ESCAPES = [
    "echo x > ../other/file",
    "echo x >> ../other/new",
    "rm ../other/file",
    "mv ../other/file .",
    "ln ../other/file hard && echo x > hard",
    "ln -s ../other/file soft && echo x > soft",
    CHANGE_MODE,
    "mkdir ../other/sub",
    "mknod ../other/dev c 1 3",
    "touch /x $HOME/x /etc/x /var/tmp/x /usr/x",
    'python3 -c \'open("../other/file", "w")\'',
    "cat ../keys/auth.json; cat ../keys/.ssh/id",
    "ln ../keys/auth.json here; cat here",
    "cp -r ../keys copy; cat copy/auth.json",
    "mount --bind ../other src && echo x > src/file",
    "unshare -Urm sh -c 'mount --bind ../other src && echo x > src/file'",
    "umount /; umount ../keys/auth.json; cat ../keys/auth.json",
    "cat /proc/{daemon}/environ | tr '\\0' '\\n'",
    "cat /proc/$PPID/environ | tr '\\0' '\\n' | grep sk-",
    "kill -9 {daemon}",
    "python3 -c 'import os; os.kill({daemon}, 9)'",
    'python3 -c \'import socket; socket.create_connection(("127.0.0.1", {port}), 2).send(b"x")\'',
    "echo x > /dev/tcp/127.0.0.1/{port}",
    LEAVE_PROCESS,
    HIDE_PROCESS,
]


@pytest.fixture
def daemon() -> Iterator[subprocess.Popen[bytes]]:
    """Somebody to be looked into and killed."""
    env = {**ENVIRONMENT, "X_API_KEY": "sk-secret"}
    process = subprocess.Popen(["sleep", "65"], env=env)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def server() -> Iterator[tuple[int, list[int]]]:
    """A server on loopback, and what reached it."""
    listening = socket.create_server(("127.0.0.1", 0))
    reached: list[int] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            reached.append(1)
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listening.getsockname()[1], reached
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


@pytest.mark.slow
@pytest.mark.timeout(60)
@every
@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_gets_out(
    mechanism: Mechanism,
    escape: str,
    workspace: Path,
    daemon: subprocess.Popen[bytes],
    server: tuple[int, list[int]],
) -> None:
    if mechanism == "landlock" and escape == CHANGE_MODE:
        return
    port, reached = server
    command = escape.replace("{daemon}", str(daemon.pid)).replace("{port}", str(port))
    result = await ran(mechanism, command, workspace)
    _nothing_happened(workspace, result.text, daemon, reached)


@pytest.mark.slow
@pytest.mark.timeout(120)
@every
def test_nothing_gets_out_for_a_plain_user_either(
    mechanism: Mechanism, daemon: subprocess.Popen[bytes], server: tuple[int, list[int]]
) -> None:
    """The same lists as another user, where we may become one."""
    if os.geteuid() != 0:
        return  # the test above was it
    port, reached = server
    root = Path("/var/tmp", f"singletree-test-{os.getpid()}")
    try:
        for escape in ESCAPES:
            if mechanism == "landlock" and escape in (CHANGE_MODE, LEAVE_PROCESS):
                continue
            shutil.rmtree(root, ignore_errors=True)
            workspace = _plain_users_place(root)
            command = escape.replace("{daemon}", str(daemon.pid)).replace("{port}", str(port))
            keys = root / "keys"
            hidden = [keys / "auth.json", keys / ".ssh"]
            around = _around(mechanism, workspace, hidden, root)
            argv = ["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups", "--", *around]
            done = subprocess.run(
                [*argv, "bash", "-c", command],
                cwd=workspace,
                env={**ENVIRONMENT, "PATH": "/usr/bin:/bin", "HOME": str(root)},
                capture_output=True,
                timeout=30,
                check=False,
            )
            assert b"bwrap:" not in done.stderr
            assert b"landlock:" not in done.stderr
            _nothing_happened(workspace, done.stdout.decode(), daemon, reached)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _plain_users_place(root: Path) -> Path:
    for name in ("w/.git/hooks", "w/src", "keys/.ssh", "other"):
        (root / name).mkdir(parents=True)
    for name in ("w/.git/config", "keys/auth.json", "keys/.ssh/id", "other/file"):
        (root / name).write_text("sk-secret" if name.startswith("keys") else "kept")
    shutil.copy(landlock.__file__, root / "landlock.py")
    for path in (root, *root.rglob("*")):
        os.chown(path, 1234, 1234)
    return root / "w"


def _around(mechanism: Mechanism, workspace: Path, hidden: list[Path], root: Path) -> list[str]:
    if mechanism == "bubblewrap":
        args = bubblewrap.arguments(
            workspace, writable=(), hidden=hidden, network=False, temp_size=2**20
        )
        return [*args, "--chdir", str(workspace), "--"]
    python, *flags, _, spec, end = landlock.command([workspace], hidden=hidden, network=False)
    assert python == sys.executable
    return ["/usr/bin/python3", *flags, str(root / "landlock.py"), spec, end]


def _nothing_happened(
    workspace: Path, said: str, daemon: subprocess.Popen[bytes], reached: list[int]
) -> None:
    other = workspace.parent / "other"
    assert [p.name for p in other.iterdir()] == ["file"]
    assert (other / "file").read_text() == "kept"
    assert not stat.S_IMODE((other / "file").stat().st_mode) & 0o022
    assert not any(Path(p).exists() for p in ("/x", "/etc/x", "/var/tmp/x", "/usr/x"))
    assert not Path(ENVIRONMENT["HOME"], "x").exists()
    assert "sk-secret" not in said
    assert daemon.poll() is None
    assert reached == []
    assert _ends("sleep 64")


ALONE = [
    "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    '.sendto(b"x", ("127.0.0.1", {udp}))\'',
    "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
    "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
    "ls -d /proc/{daemon} && echo seen",
]


@pytest.mark.slow
@pytest.mark.timeout(60)
@wrapped
@pytest.mark.parametrize("command", ALONE)
async def test_in_bubblewrap_it_is_alone(
    mechanism: Mechanism, command: str, workspace: Path, daemon: subprocess.Popen[bytes]
) -> None:
    name = f"singletree-test-{os.getpid()}"
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    path = f"/tmp/{name}.sock"
    servers = [udp]
    for address in (path, f"\0{name}"):
        servers.append(socket.socket(socket.AF_UNIX))
        servers[-1].bind(address)
        servers[-1].listen()
    try:
        for gap, value in {
            "udp": udp.getsockname()[1], "unix": path, "abstract": name, "daemon": daemon.pid
        }.items():  # fmt: skip
            command = command.replace("{" + gap + "}", str(value))
        result = await ran(mechanism, command, workspace)
        if "DGRAM" not in command:
            assert result.ended.code != 0
        for server in servers:
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.recv(1) if server is udp else server.accept()
    finally:
        os.unlink(path)  # noqa: PTH108
        for server in servers:
            server.close()


@pytest.mark.slow
@pytest.mark.timeout(60)
@wrapped
async def test_hooks_and_configuration_of_git_cannot_be_changed(
    mechanism: Mechanism, workspace: Path
) -> None:
    for command in (
        "echo x > .git/hooks/post-checkout",
        "echo x > .git/config",
        "git config core.fsmonitor x",
        "mv .git moved",
        "mv .git/hooks .git/h",
        "rm -rf .git",
    ):
        await ran(mechanism, command, workspace)
        assert list((workspace / ".git/hooks").iterdir()) == []
        assert (workspace / ".git/config").read_text() == "[core]\n"
    result = await ran(mechanism, "echo x > .git/index && echo fine", workspace)
    assert result.text == "fine\n"


@wrapped
async def test_no_hooks_come_where_there_were_none(mechanism: Mechanism, workspace: Path) -> None:
    (workspace / ".git/hooks").rmdir()
    (workspace / ".exrc").write_text("")
    for command in ("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", "echo x > .exrc"):
        await ran(mechanism, command, workspace)
    hooks = workspace / ".git/hooks"
    assert not hooks.exists() or not list(hooks.iterdir())
    assert (workspace / ".exrc").read_text() == ""


@wrapped
async def test_what_is_guarded_stays_even_where_all_around_is_writable(
    mechanism: Mechanism, workspace: Path
) -> None:
    agent_dir, home = workspace / "agent", workspace.parent
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text("{}")
    line = "echo x > agent/settings.json; rm -r agent; mv agent b; touch agent/new; echo x > ../new"
    await ran(mechanism, line, workspace, writable=[home], guarded=[agent_dir])
    assert [path.name for path in agent_dir.iterdir()] == ["settings.json"]
    assert (agent_dir / "settings.json").read_text() == "{}"
    assert (home / "new").exists()


@pytest.mark.slow
@pytest.mark.timeout(60)
@wrapped
@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/run", "/dev", "/var/tmp"])
async def test_the_temporary_disk_cannot_be_filled(
    mechanism: Mechanism, folder: str, workspace: Path
) -> None:
    command = f"head -c 64M /dev/zero > {folder}/x; stat -c %s {folder}/x"
    result = await ran(mechanism, command, workspace, temp_size=4 * 2**20)
    assert "No space left" in result.text or "Read-only" in result.text
    size = result.text.split()[-1]
    assert not size.isdigit() or int(size) <= 4 * 2**20


@pytest.mark.slow
@pytest.mark.timeout(60)
@every
def test_nothing_is_left_when_the_daemon_is_killed(
    mechanism: Mechanism, workspace: Path, tmp_path: Path
) -> None:
    program = (
        "import anyio, os, sys; from pathlib import Path;"
        "from singletree.tools.sandbox import SandboxedShell;"
        "from singletree.tools.shell import LocalShell;"
        "w = Path(sys.argv[1]);"
        "s = SandboxedShell(LocalShell(dict(os.environ), children=w.parent / 'children'),"
        " mechanism=sys.argv[2], workspace=w);"
        "anyio.run(lambda: s.run('touch started; setsid sleep 66 & sleep 66', cwd=w, limit=None,"
        " on_output=lambda b: None))"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(workspace), mechanism])
    while not (workspace / "started").exists():
        time.sleep(0.02)
    time.sleep(0.2)
    process.kill()
    process.wait()
    if mechanism != "bubblewrap":
        sweep(workspace.parent / "children")
    assert _ends("sleep 66")


def _ends(command: str) -> bool:
    """Whether it is gone, or in a moment: the kernel ends a namespace after its first process."""
    until = time.monotonic() + 5
    while running := _running(command):
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return not running


def _running(command: str) -> bool:
    wanted = command.replace(" ", "\0").encode() + b"\0"
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == wanted:
                return True
        except OSError:
            continue
    return False


def _plainly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)
