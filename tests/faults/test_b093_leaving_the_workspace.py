"""B093: out of the workspace through links, `..` and folders whose names begin the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from singletree.agent.tool import Tool, ToolRun, parse_args
from singletree.errors import ToolError
from singletree.messages import ToolCall, text_of
from singletree.session.permission.gate import Allowed, Answer, Gate, Question
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.kit import default_tools
from singletree.tools.shell import LocalShell

SECRET = "outside: SECRET\n"


class House:
    """The folders of the case, and somebody who says no to everything."""

    def __init__(self, root: Path, workspace: str) -> None:
        self.root = root
        for folder in ("w/sub", "w-evil", "o"):
            (root / folder).mkdir(parents=True)
        (root / "w/sub/in.txt").write_text("inside\n")
        for file in ("w-evil/a", "o/a"):
            (root / file).write_text(SECRET)
        (root / "w/out").symlink_to(root / "o")
        (root / "w/new").symlink_to(root / "o/n")
        (root / "w/to-file").symlink_to("../o/a")
        (root / "w/in").symlink_to("sub")
        (root / "linked").symlink_to("w")
        self.world = LocalWorld(root / workspace, Disk(), LocalShell(dict(os.environ)))
        self.gate = Gate(self.no, self.world, root / "agent", "acceptEdits")
        self.tools = {tool.name: tool for tool in default_tools(self.world)}
        self.asked = 0

    async def no(self, question: Question) -> Answer:
        self.asked += 1
        return Answer("denied", by="test")

    async def call(self, name: str, arguments: Mapping[str, object]) -> tuple[bool, str]:
        """Whether it ran, and what the model hears."""
        tool: Tool = self.tools[name]
        call = ToolCall.model_validate({"id": "1", "name": name, "arguments": dict(arguments)})
        verdict = await self.gate.check(call, tool, parse_args(tool, call))
        if not isinstance(verdict, Allowed):
            return False, verdict.reason
        try:
            output = await tool.run(verdict.args, ToolRun("1", lambda text: None))
        except ToolError as error:
            return True, error.message
        return True, text_of(list(output.content))

    def unchanged(self) -> None:
        assert (self.root / "o/a").read_text() == SECRET
        assert (self.root / "w-evil/a").read_text() == SECRET
        assert sorted(p.name for p in (self.root / "o").iterdir()) == ["a"]
        assert sorted(p.name for p in (self.root / "w-evil").iterdir()) == ["a"]


OUTSIDE = [
    "{root}/w-evil/a",
    "{root}/w-evil",
    "out/a",
    "out",
    "new",
    "to-file",
    "../o/a",
    "../w-evil",
    "{root}/w/../o/a",
    "out/../out/a",
    "in/../out/a",
    "sub/../../o/a",
    "file://{root}/o/a",
]
CALLS: dict[str, dict[str, object]] = {
    "read": {},
    "write": {"content": "changed"},
    "edit": {"edits": [{"oldText": "outside", "newText": "changed"}]},
    "ls": {},
    "grep": {"pattern": "SECRET"},
    "find": {"pattern": "*"},
}


@pytest.mark.parametrize("workspace", ["w", "linked"])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("path", OUTSIDE)
async def test_b093_outside_is_asked_for(
    path: str, name: str, workspace: str, tmp_path: Path
) -> None:
    house = House(tmp_path, workspace)
    ran, text = await house.call(name, {**CALLS[name], "path": path.format(root=tmp_path)})
    assert not ran
    assert house.asked == 1 or name == "edit", "an edit that would fail is not asked for"
    assert "SECRET" not in text
    house.unchanged()


@pytest.mark.parametrize("workspace", ["w", "linked"])
async def test_b093_searches_do_not_follow_links(workspace: str, tmp_path: Path) -> None:
    house = House(tmp_path, workspace)
    assert await house.call("grep", {"pattern": "SECRET"}) == (True, "No line matches.")
    assert await house.call("grep", {"pattern": "inside"}) == (True, "sub/in.txt:1: inside")
    ran, names = await house.call("find", {"pattern": "*"})
    assert (ran, names) == (True, "in\nnew\nout\nsub/\nsub/in.txt\nto-file")


@pytest.mark.parametrize("workspace", ["w", "linked"])
async def test_b093_inside_works_as_ever(workspace: str, tmp_path: Path) -> None:
    house = House(tmp_path, workspace)
    assert (await house.call("read", {"path": "in/in.txt"})) == (True, "inside\n")
    assert (await house.call("read", {"path": f"{tmp_path}/w/sub/in.txt"}))[0]
    assert (await house.call("read", {"path": f"{tmp_path}/linked/sub/in.txt"}))[0]
    assert (await house.call("write", {"path": "in/made.txt", "content": "x"}))[0]
    assert (tmp_path / "w/sub/made.txt").read_text() == "x"
    edit = {"path": "in/in.txt", "edits": [{"oldText": "inside", "newText": "changed"}]}
    assert (await house.call("edit", edit))[0]
    assert (tmp_path / "w/sub/in.txt").read_text() == "changed\n"
    assert house.asked == 0
