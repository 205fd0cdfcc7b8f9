"""Dialogs of an extension: who sees them, how they end, and that none of them hangs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, place
from tests.daemon.several import house as several
from tests.rpc.client import Message, RawClient
from tests.rpc.contract import fits
from tests.rpc.editor import House, house, until

REQUEST = "agent/ui/request"
DIALOG = "window/showMessageRequest"
DONE: Message = {"text": "done"}
ALL: Message = {"dialogs": ["select", "confirm", "input", "editor", "form"]}
CALLS: Message = {"call": "ask", "args": {"kind": "input"}}

EXTENSION = """
import json
from pydantic import Field
from singletree.agent.tool import Args, Tool, ToolOutput, typed
from singletree.extensions.dialog import Choosable, Dialog

SCHEMA = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
DIALOGS = {
    "select": Dialog("select", "Which?", options=(Choosable("a", "Aye"), Choosable("b", "Bee"))),
    "twins": Dialog("select", "Which?", options=(Choosable("a", "Yes"), Choosable("b", "Yes"))),
    "confirm": Dialog("confirm", "Sure?", "It cannot be undone."),
    "input": Dialog("input", "Your name?", prefill="Kim"),
    "editor": Dialog("editor", "Your text?"),
    "form": Dialog("form", "Where?", schema=SCHEMA),
    "short": Dialog("input", "Quick?", timeout=0.2),
}

class Which(Args):
    kind: str = Field(description="which")

def setup(api):
    async def ask(kind):
        reply = await api.show(DIALOGS[kind.strip()])
        return json.dumps([reply.value, reply.cancelled, reply.by])
    async def run(args, tool_run):
        return ToolOutput.text(await ask(args.kind))
    api.command("ask", "Ask.", ask)
    api.tool(Tool("ask", "Ask", "other", "Ask.", Which, typed(Which, run)))
"""


def extension(root: Path) -> None:
    folder = root / "agent" / "extensions"
    folder.mkdir(parents=True)
    (folder / "asker.py").write_text(EXTENSION, "utf-8")


@asynccontextmanager
async def asking(root: Path, *turns: object, ui: Message | None = None) -> AsyncIterator[House]:
    extension(root)
    agent = {} if ui is None else {"ui": ui}
    async with house(root, *turns, agent=agent) as made:
        yield made


async def ask(made: House, kind: str) -> Any:
    """What the extension hears: value, cancelled, by."""
    params = {"sessionId": made.session_id, "content": f"/ask {kind}"}
    told = await made.client.call("agent/prompt", params)
    assert told["disposition"] == "handled"
    return json.loads(told["note"])


def told(made: House) -> list[tuple[str, str | None]]:
    """What became of questions, as everybody hears it."""
    events = [note["event"] for note in made.client.notes("agent/event")]
    return [(e["status"], e.get("by")) for e in events if e["type"] == "permission"]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("select", "b"),
        ("confirm", True),
        ("confirm", False),
        ("input", "Alex"),
        ("editor", "two\nlines"),
        ("form", {"port": 80}),
    ],
)
async def test_a_declared_kind_is_asked_by_request(
    tmp_path: Path, kind: str, value: object
) -> None:
    async with asking(tmp_path, DONE, ui=ALL) as made:
        asked: list[Message] = []

        def answer(params: Message) -> Message:
            asked.append(params)
            return {"result": {"value": value}}

        made.client.reactions[REQUEST] = answer
        assert await ask(made, kind) == [value, False, "test"]
        fits("UiRequestParams", asked[0])
        assert asked[0]["kind"] == kind
        assert ("options" in asked[0], "jsonSchema" in asked[0]) == (
            kind == "select",
            kind == "form",
        )
        assert told(made) == [("open", None), ("answered", "test")]


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ({"result": {"cancelled": True}}, "test"),
        ({"result": None}, "policy"),
        ({"result": {"value": 7}}, "policy"),
        ({"error": {"code": -32601, "message": "unknown"}}, "policy"),
    ],
)
async def test_what_is_no_answer_dismisses_it(tmp_path: Path, answer: Message, by: str) -> None:
    async with asking(tmp_path, DONE, ui=ALL) as made:
        made.client.reactions[REQUEST] = lambda params: answer
        assert await ask(made, "input") == [None, True, by]
        assert told(made) == [("open", None), ("cancelled", by)]


@pytest.mark.parametrize("ui", [None, {}, {"dialogs": ["input"]}])
async def test_simple_ones_go_through_the_dialog_of_lsp(tmp_path: Path, ui: Message | None) -> None:
    async with asking(tmp_path, DONE, ui=ui) as made:
        asked: list[Message] = []

        def second(params: Message) -> Message:
            asked.append(params)
            return {"result": params["actions"][1]}

        made.client.reactions[DIALOG] = second
        assert await ask(made, "select") == ["b", False, "test"]
        assert await ask(made, "confirm") == [False, False, "test"]
        assert [a["title"] for a in asked[0]["actions"]] == ["Aye", "Bee"]
        assert asked[1]["message"] == "Sure?\nIt cannot be undone."
        assert await ask(made, "twins") == ["b", False, "test"]
        assert [a["title"] for a in asked[2]["actions"]] == ["Yes", "Yes (2)"]
        made.client.reactions[DIALOG] = lambda params: {"result": None}
        assert await ask(made, "select") == [None, True, "test"]


@pytest.mark.parametrize("kind", ["input", "editor", "form"])
async def test_others_are_dismissed_at_once_where_nobody_knows_them(
    tmp_path: Path, kind: str
) -> None:
    async with asking(tmp_path, DONE) as made:
        assert await ask(made, kind) == [None, True, "policy"]
        assert not any(f.get("method") in (REQUEST, DIALOG) for f in made.client.frames)


async def test_one_that_is_not_answered_in_time(tmp_path: Path) -> None:
    async with asking(tmp_path, DONE, ui=ALL) as made:
        assert await ask(made, "short") == [None, True, "timeout"]
        assert told(made) == [("open", None), ("cancelled", "timeout")]
        asked = next(f for f in made.client.frames if f.get("method") == REQUEST)
        assert asked["params"]["timeoutMs"] == 200
        await until(lambda: made.client.notes("$/cancelRequest") == [{"id": asked["id"]}])
        assert made.client.notes("agent/request/resolved")[0]["by"] == "timeout"


async def test_an_abort_takes_it_off_the_screen(tmp_path: Path) -> None:
    async with asking(tmp_path, CALLS, DONE, ui=ALL) as made:
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        asked = await made.client.until(lambda f: f.get("method") == REQUEST)
        state = await made.client.call("agent/session/state", session)
        assert state["phase"] == "requires_action"
        assert state["pending"] == [asked["params"]["requestId"]]
        attached = await made.client.call("agent/session/attach", session)
        (one,) = attached["pending"]
        assert (one["method"], one["params"]) == (REQUEST, asked["params"])
        done = await made.client.call("agent/abort", session, 2)
        assert done["aborted"]
        await until(lambda: {"id": asked["id"]} in made.client.notes("$/cancelRequest"))
        assert told(made)[-1] == ("cancelled", "abort")
        state = await made.client.call("agent/session/state", session)
        assert (state["phase"], state["pending"]) == ("idle", [])


async def test_an_abort_dismisses_the_dialog_of_a_command(tmp_path: Path) -> None:
    async with asking(tmp_path, DONE, ui=ALL) as made:
        command = asyncio.ensure_future(ask(made, "input"))
        await made.client.until(lambda f: f.get("method") == REQUEST)
        await made.client.call("agent/abort", {"sessionId": made.session_id})
        assert await command == [None, True, "abort"]


ONE: Message = {"clientId": "one", "ui": ALL, "permissions": {}}
TWO: Message = {"clientId": "two", "ui": ALL, "permissions": {}}


async def opened(client: RawClient, where: Place) -> str:
    told = await client.call("agent/session/open", {"cwd": str(where.folder)})
    return str(told["sessionId"])


async def result(client: RawClient, session_id: str) -> Any:
    """What the tool that asks heard, once the turn is over."""
    await client.call("agent/session/wait", {"sessionId": session_id}, 15)
    page = await client.call("agent/session/entries", {"sessionId": session_id})
    messages = [e["message"] for e in page["entries"] if e["type"] == "message"]
    (text,) = [m["content"][0]["text"] for m in messages if m["role"] == "toolResult"]
    return json.loads(text)


def allow(params: Message) -> Message:
    return {"result": {"outcome": "selected", "optionId": params["options"][0]["id"]}}


async def test_of_several_clients_the_first_answer_counts(tmp_path: Path) -> None:
    extension(tmp_path)
    where = place(tmp_path)
    async with several(where, CALLS, DONE) as join, join(ONE) as one, join(TWO) as two:
        one.reactions["agent/permission/request"] = allow
        session_id = await opened(one, where)
        await opened(two, where)
        await one.call("agent/prompt", {"sessionId": session_id, "content": "go"})
        await one.until(lambda f: f.get("method") == REQUEST)
        asked = await two.until(lambda f: f.get("method") == REQUEST)
        two.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"value": "Alex"}})
        assert await result(one, session_id) == ["Alex", False, "two"]
        resolved = [n for n in one.notes("agent/request/resolved") if n["by"] == "two"]
        assert [n["requestId"] for n in resolved] == [asked["params"]["requestId"]]


async def test_a_window_that_reloads_is_asked_again(tmp_path: Path) -> None:
    """The only client leaves while a question is open; the next one finds it and answers."""
    extension(tmp_path)
    where = place(tmp_path)
    async with several(where, CALLS, DONE) as join:
        async with join(ONE) as one:
            one.reactions["agent/permission/request"] = allow
            session_id = await opened(one, where)
            await one.call("agent/prompt", {"sessionId": session_id, "content": "go"})
            first = await one.until(lambda f: f.get("method") == REQUEST)
        await asyncio.sleep(0.2)
        async with join(TWO) as two:
            attached = await two.call("agent/session/attach", {"sessionId": session_id})
            assert [p["params"] for p in attached["pending"]] == [first["params"]]
            asked = await two.until(lambda f: f.get("method") == REQUEST)
            assert asked["params"] == first["params"]
            two.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"value": "back"}})
            assert await result(two, session_id) == ["back", False, "two"]
