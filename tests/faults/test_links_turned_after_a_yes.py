"""A link that is turned between a yes and the deed: nothing is read or written where it then leads.

The tools run on a real disk behind a real gate; what a command would do in between is done by hand.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.tools.worlds import NoShell, run_tool

from singletree.agent.tool import Tool, parse_args
from singletree.messages import ToolCall, text_of
from singletree.session.permission.gate import Allowed, Answer, Gate, Question
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.kit import default_tools

TURNED = "leads elsewhere than when this call was allowed"
EDITS: JsonValue = [{"oldText": "inside", "newText": "changed"}]
CALLS: dict[str, dict[str, JsonValue]] = {
    "read": {"path": "way/f"},
    "write": {"path": "way/f", "content": "new"},
    "edit": {"path": "way/f", "edits": EDITS},
    "ls": {"path": "way"},
    "grep": {"path": "way", "pattern": "SECRET"},
    "find": {"path": "way", "pattern": "*"},
}


class House:
    """A workspace with a link to a folder of its own, and a folder outside."""

    def __init__(self, root: Path) -> None:
        self.workspace, self.outside = root / "w", root / "outside"
        for folder, text in ((self.workspace / "in", "inside\n"), (self.outside, "SECRET inside")):
            folder.mkdir(parents=True)
            (folder / "f").write_text(text)
        (self.outside / "only-outside").write_text("SECRET")
        self.turn("in")
        self.world = LocalWorld(self.workspace, Disk(), NoShell())
        self.gate = Gate(self._no, self.world, root / "agent", "acceptEdits")
        self.tools = {tool.name: tool for tool in default_tools(self.world)}

    async def _no(self, question: Question) -> Answer:
        return Answer("denied", by="test")

    async def _yes(self, question: Question) -> Answer:
        return Answer("allowed", by="test")

    def turn(self, to: str, name: str = "way") -> None:
        new = self.workspace / "new"
        new.symlink_to(to)
        new.rename(self.workspace / name)

    async def allowed(self, name: str, **args: Any) -> Tool:
        tool = self.tools[name]
        call = ToolCall(id="c", name=name, arguments=args)
        assert isinstance(await self.gate.check(call, tool, parse_args(tool, call)), Allowed)
        return tool


@pytest.mark.parametrize("name", CALLS)
async def test_a_folder_that_was_turned(name: str, tmp_path: Path) -> None:
    house, args = House(tmp_path), CALLS[name]
    tool = await house.allowed(name, **args)
    house.turn("../outside")
    output = await run_tool(tool, **args)
    told = text_of(list(output.content))
    assert output.is_error and TURNED in told
    assert "SECRET" not in told and "only-outside" not in told
    assert (house.outside / "f").read_text() == "SECRET inside"
    assert sorted(path.name for path in house.outside.iterdir()) == ["f", "only-outside"]
    house.turn("in")
    assert not (await run_tool(await house.allowed(name, **args), **args)).is_error


@pytest.mark.parametrize("name", ["read", "write", "edit", "grep"])
async def test_a_file_that_became_a_link(name: str, tmp_path: Path) -> None:
    house = House(tmp_path)
    args = {**CALLS[name], "path": "in/f"}
    tool = await house.allowed(name, **args)
    house.turn("../../outside/f", "in/f")
    output = await run_tool(tool, **args)
    assert output.is_error and TURNED in text_of(list(output.content))
    assert (house.outside / "f").read_text() == "SECRET inside"


async def test_a_new_file_where_a_folder_was_turned(tmp_path: Path) -> None:
    house = House(tmp_path)
    tool = await house.allowed("write", path="way/sub/new", content="x")
    house.turn("../outside")
    output = await run_tool(tool, path="way/sub/new", content="x")
    assert output.is_error and TURNED in text_of(list(output.content))
    assert not (house.outside / "sub").exists()


async def test_a_link_that_leads_elsewhere_for_good_is_judged_anew(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.gate.mode, house.gate._ask = "ask", house._yes
    await house.allowed("edit", **CALLS["edit"])
    house.turn("../outside")
    tool = await house.allowed("edit", **CALLS["edit"])
    assert not (await run_tool(tool, **CALLS["edit"])).is_error
    assert (house.outside / "f").read_text() == "SECRET changed"


async def test_links_that_stay_are_followed(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.turn("in/f", "to-file")
    for name, path in [
        *((name, "way") for name in CALLS),
        ("grep", "to-file"),
        ("read", "to-file"),
    ]:
        args = CALLS[name] if path == "way" else {**CALLS[name], "path": path}
        tool = await house.allowed(name, **args)
        if name == "edit":
            (house.workspace / "in/f").write_text("inside\n")
        assert not (await run_tool(tool, **args)).is_error, name


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_link_that_turns_all_the_time(tmp_path: Path) -> None:
    house, stop = House(tmp_path), threading.Event()

    def spin() -> None:
        while not stop.is_set():
            house.turn("../outside")
            house.turn("in")

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        for round_ in range(300):
            for name in ("write", "read", "ls", "find", "grep in a folder", "grep in a file"):
                name, _, place = name.partition(" in a ")
                args = {**CALLS[name], **({"content": f"{round_}"} if name == "write" else {})}
                args |= {"path": "way/f", "pattern": "inside"} if place == "file" else {}
                tool, call = house.tools[name], ToolCall(id="c", name=name, arguments=args)
                verdict = await house.gate.check(call, tool, parse_args(tool, call))
                if isinstance(verdict, Allowed):
                    output = await run_tool(tool, **args)
                    assert "SECRET" not in text_of(list(output.content))
                    assert "only-outside" not in text_of(list(output.content))
    finally:
        stop.set()
        thread.join()
    assert (house.outside / "f").read_text() == "SECRET inside"
    assert sorted(path.name for path in house.outside.iterdir()) == ["f", "only-outside"]
