"""B091: an allowed command with another one chained, piped, substituted or redirected behind it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.tools.worlds import run_tool

from singletree.messages import ToolCall
from singletree.session.permission.gate import Allowed, Answer, Blocked, Gate, Question
from singletree.tools.bash import BashArgs, bash_tool
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.sandbox import SandboxedShell, can_confine
from singletree.tools.shell import LocalShell

TRICKS = [
    "git status && rm x",
    "ls; rm x",
    "ls | sh",
    "ls $(touch x)",
    "ls `touch x`",
    "ls\nrm x",
    "ls & rm x",
    "ls > x",
    "lsof",
    "ls <(touch x)",
]
HARMLESS = ['echo "a && b"', "echo a # ; rm x"]


class Asked(list[Question]):
    """Says no to everything."""

    async def __call__(self, question: Question) -> Answer:
        self.append(question)
        return Answer("denied", by="test")


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("command", TRICKS + HARMLESS)
async def test_b091_only_what_is_allowed_runs(command: str, there: bool, tmp_path: Path) -> None:
    if there:
        (tmp_path / "x").write_text("kept")
    shell = LocalShell(dict(os.environ))
    world = LocalWorld(tmp_path, Disk(), shell)
    asked = Asked()
    gate = Gate(asked, world, tmp_path.parent / "agent", sandbox=can_confine)
    for allowed in ("git status", "ls", "echo"):
        gate.rules.add("bash", allowed, "allow", "session")
    gate.rules.add("bash", "rm", "deny", "session")
    confined = SandboxedShell(shell, workspace=tmp_path)
    tool = bash_tool(world, shell_of=lambda i: confined if gate.confined(i) else shell)
    args = BashArgs(command=command)
    verdict = await gate.check(ToolCall(id="call", name="bash"), tool, args)
    if isinstance(verdict, Allowed):
        await run_tool(tool, command=command)
    if command in HARMLESS:
        assert isinstance(verdict, Allowed)
        assert asked == []
    else:
        assert isinstance(verdict, Blocked)
        assert bool(asked) == ("rm" not in command)
    assert (tmp_path / "x").exists() == there
    assert not there or (tmp_path / "x").read_text() == "kept"
