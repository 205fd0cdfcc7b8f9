"""An extension in the real daemon: its tool, its command, its guard, its notes, its failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, daemon, events, opened, place, prompt, settled, text
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

EXTENSION = '''
"""Counts words, guards commands, keeps a note of each turn."""

from singletree.agent.tool import Args, Tool, ToolOutput, typed
from singletree.extensions.api import AgentEnd, Block, Handled, Input, ToolCalling

class CountArgs(Args):
    words: str

async def count(args, run):
    return ToolOutput.text(str(len(args.words.split())))

def setup(api):
    api.tool(Tool("count", "Count", "other", "Counts words.", CountArgs, typed(CountArgs, count)))

    async def recall(words):
        return f"{len(api.session.notes('turns'))} turns, {words or 'nothing more'}"

    api.command("recall", "Tells how many turns there were", recall)

    def guard(calling):
        if "sudo" in str(calling.args):
            return Block("No sudo here.")

    def seen(given):
        if given.text == "ping":
            return Handled("pong")
        if given.text == "fail":
            raise ValueError("oops")

    api.on(ToolCalling, guard)
    api.on(Input, seen)
    api.on(AgentEnd, lambda ended: api.append("turns", len(ended.messages)) and None)
'''


def with_extensions(tmp_path: Path, **files: str) -> Place:
    where = place(tmp_path)
    folder = where.agent_dir / "extensions"
    folder.mkdir(parents=True)
    for name, code in files.items():
        (folder / f"{name}.py").write_text(code, "utf-8")
    return where


def results(client: RawClient) -> list[str]:
    return [
        entry["message"]["content"][0]["text"]
        for entry in (event["entry"] for event in events(client, "entry"))
        if entry.get("message", {}).get("role") == "toolResult"
    ]


async def test_an_extension_in_a_conversation(tmp_path: Path) -> None:
    where = with_extensions(tmp_path, words=EXTENSION, broken="import nothing_of_that_name\n")
    turns = (
        {"calls": [{"tool": "count", "args": {"words": "a b c"}}]},
        {"text": "Three."},
        {"call": "bash", "args": {"command": "sudo ls"}},
        {"text": "I may not."},
        {"text": "So be it."},
    )
    async with daemon(where, *turns) as client:
        state = (await client.call("agent/session/open", {"cwd": str(where.folder)}))["state"]
        session_id = state["sessionId"]
        assert "count" in state["tools"]
        (notice,) = [one for one in state["warnings"] if one["code"] == "extension"]
        assert "broken.py: ModuleNotFoundError" in notice["message"]

        async def say(words: str) -> Any:
            return await prompt(client, session_id, words)

        assert await say("ping") == {"disposition": "handled", "note": "pong"}
        for words in ("count", "clean up", "fail"):
            assert (await say(words))["disposition"] == "started"
            assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        assert results(client) == ["3", "No sudo here."]
        (failure,) = events(client, "extension_error")
        assert (failure["extension"], failure["event"]) == ("words", "Input")
        assert failure["message"] == "ValueError: oops"
        done = await say("/recall by the way")
        assert done == {"disposition": "handled", "note": "3 turns, by the way"}
        listed = (await client.call("agent/command/list", {"sessionId": session_id}))["commands"]
        assert ("recall", "extension") in [(one["name"], one["source"]) for one in listed]


async def test_an_extension_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    code = (
        "import anyio\n"
        "from singletree.extensions.api import Input, SessionShutdown, SessionStart\n"
        "def setup(api):\n"
        "    async def hang(given):\n"
        "        await anyio.sleep(600)\n"
        "    for kind in (SessionStart, Input, SessionShutdown):\n"
        "        api.on(kind, hang)\n"
    )
    where = with_extensions(tmp_path, hang=code)
    where.settings(extensionTimeoutMs=200)
    async with daemon(where, {"text": "ok"}) as client:
        session_id = await opened(client, where)
        params = {"sessionId": session_id, "content": text("hi")}
        assert (await client.call("agent/prompt", params, 10))["disposition"] == "started"
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        assert await client.call("shutdown", None, 10) is None
