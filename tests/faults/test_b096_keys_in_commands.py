"""B096: what a command can see of the daemon's keys and of the project's .env."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool

from singletree.messages import text_of
from singletree.tools.bash import bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.sandbox import SandboxedShell
from singletree.tools.shell import LocalShell

KEY = "sk-test-123"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.environ.get("HOME", "/"),
    "X_API_KEY": KEY,
    "OTHER_NAME": KEY,
    "ANTHROPIC_OAUTH_TOKEN": KEY,
    "HTTPS_PROXY": f"http://me:{KEY}@127.0.0.1:3128",
    "all_proxy": f"socks5://me:{KEY}@127.0.0.1:1080",
}


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize(
    "command",
    ["env", "export -p", "cat /proc/self/environ", "python3 -c 'import os; print(os.environ)'"],
)
async def test_b096_commands_see_no_key(command: str, confined: bool, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("Z=9\n")
    local = LocalShell(ENVIRONMENT)
    shell = SandboxedShell(local, workspace=tmp_path) if confined else local
    world = LocalWorld(tmp_path, Disk(), shell)
    output = await run_tool(bash_tool(world), command=f"{command}; echo [$Z] [$HTTPS_PROXY]")
    text = text_of(list(output.content))
    assert KEY not in text
    assert "[] [http://127.0.0.1:3128]" in text
    assert not output.is_error


async def test_b096_what_is_kept_of_an_output_is_its_users_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        world = LocalWorld(tmp_path, Disk(), LocalShell(ENVIRONMENT))
        await run_tool(bash_tool(world, outputs=tmp_path / "o"), command="seq 3000")
    finally:
        os.umask(old)
    (kept,) = (tmp_path / "o").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
