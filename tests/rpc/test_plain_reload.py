"""A plain LSP host whose window reloads in mid-turn, with a daemon that is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.daemon.real import Place, place
from tests.daemon.several import house
from tests.rpc.client import Message, RawClient
from tests.rpc.editor import until

DONE: Message = {"text": "done"}
WRITE: Message = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}
DIALOG = "window/showMessageRequest"


def hello(where: Place) -> dict[str, Any]:
    return {
        "workspaceFolders": [{"uri": where.folder.as_uri(), "name": "work"}],
        "capabilities": {"window": {"workDoneProgress": True}},
    }


async def run(client: RawClient, command: str, *arguments: object) -> Any:
    params = {"command": command, "arguments": list(arguments)}
    return await client.call("workspace/executeCommand", params)


def dialogs(client: RawClient) -> list[Message]:
    return [frame for frame in client.frames if frame.get("method") == DIALOG]


async def test_it_finds_its_turn_and_the_question_again(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, WRITE, DONE) as join:
        async with join(None, **hello(where)) as client:
            await run(client, "agent.prompt", "write")
            await until(lambda: dialogs(client) != [])
        async with join(None, **hello(where)) as client:
            client.reactions["window/workDoneProgress/create"] = lambda params: {"result": None}
            client.reactions[DIALOG] = lambda params: {"result": params["actions"][0]}
            await until(lambda: client.notes("window/showMessage") != [])
            (told,) = client.notes("window/showMessage")
            assert told["message"].startswith("done")
            assert (where.folder / "new.txt").exists()


async def test_another_window_is_left_alone_while_somebody_hears(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, WRITE, DONE) as join, join(None, **hello(where)) as first:
        await run(first, "agent.prompt", "write")
        await until(lambda: dialogs(first) != [])
        async with join(None, **hello(where)) as second:
            await second.call("agent/session/list")
            assert dialogs(second) == []
            assert second.notes("$/progress") == []
        await run(first, "agent.abort")


async def test_a_command_without_anything_that_runs(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, DONE, DONE) as join:
        for words in ("one", "two"):
            async with join(None, **hello(where)) as client:
                await run(client, "agent.prompt", words)
                await until(lambda: client.notes("window/showMessage") != [])
