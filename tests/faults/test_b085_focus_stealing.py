"""Nothing jumps into view while a person types; only their own command shows something."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.rpc.client import Message
from tests.rpc.editor import house, until
from tests.rpc.plain import ALL, plain

DONE: Message = {"text": "done"}
EDITS: list[Message] = [
    {"call": "edit", "args": {"path": name, "edits": [{"oldText": "one", "newText": "1"}]}}
    for name in ("open.txt", "closed.txt")
]
WRITE: Message = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}


def asked(frames: list[Message]) -> list[str]:
    """What the editor was asked to do, in order."""
    methods = [f["method"] for f in frames if "method" in f and "id" in f]
    return [method for method in methods if method.startswith(("window/show", "workspace/apply"))]


async def test_a_plain_host_is_shown_nothing_by_itself(tmp_path: Path) -> None:
    async with plain(tmp_path, *EDITS, WRITE, DONE, mode="ask") as host:
        for name in ("mine.txt", "open.txt", "closed.txt"):
            (host.folder / name).write_text("one\n")
        mine = host.editor.open(host.folder / "mine.txt")
        other = host.editor.open(host.folder / "open.txt")
        host.client.reactions["window/showMessageRequest"] = lambda params: {
            "result": params["actions"][0]
        }
        shown: list[Message] = []

        def show(params: Message) -> Message:
            shown.append(params)
            return {"result": {"success": True}}

        host.client.reactions["window/showDocument"] = show
        await host.run("agent.prompt", "go")
        for letter in "typed meanwhile ":
            host.editor.type(mine, 0, 0, letter)
        await host.until_told("done")
        question, edit = "window/showMessageRequest", "workspace/applyEdit"
        assert asked(host.client.frames) == [question, edit, question, question]
        assert shown == []
        assert host.editor.buffers[other].text == "1\n"
        assert host.editor.buffers[mine].text == "".join(reversed("typed meanwhile ")) + "one\n"
        assert set(host.editor.buffers) == {mine, other}  # nothing was opened
        await host.run("agent.diff")
        assert [one["takeFocus"] for one in shown] == [False]


@pytest.mark.parametrize("apply", ["open", "none"])
async def test_nor_is_a_host_that_speaks_the_protocol(tmp_path: Path, apply: str) -> None:
    async with house(
        tmp_path, *EDITS, WRITE, DONE, editor={"applyEdit": apply}, capabilities=ALL
    ) as made:
        for name in ("open.txt", "closed.txt"):
            (made.folder / name).write_text("one\n")
        made.editor.open(made.folder / "closed.txt")
        await made.known((made.folder / "closed.txt").as_uri())
        await made.say("go")
        await until(lambda: (made.folder / "new.txt").exists())
        assert "window/showDocument" not in asked(made.client.frames)
