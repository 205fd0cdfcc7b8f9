"""Everything a person needs, through nothing but `workspace/executeCommand`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import until
from tests.rpc.plain import PlainHost, plain

from singletree.rpc.offered import COMMANDS as OFFERED
from singletree.rpc.plain.commands import COMMANDS

DONE: Message = {"text": "done"}
SLOW: Message = {"text": "slow", "delay": 30}
WRITE: Message = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}
DIALOG = "window/showMessageRequest"


def entries(host: PlainHost) -> list[Any]:
    """The entries of the session's file."""
    (path,) = (host.house.root / "agent").glob("sessions/*/*")
    return [json.loads(line) for line in path.read_text().splitlines()]


def asked(host: PlainHost) -> list[str]:
    """What the person said, as the file has it."""
    messages = [entry.get("message", {}) for entry in entries(host)]
    return ["\n".join(b["text"] for b in m["content"]) for m in messages if m.get("role") == "user"]


async def said(host: PlainHost, words: str, end: str = "done") -> Any:
    """Say something and wait until the end of the answer is shown."""
    before = len(host.told())
    result = await host.run("agent.prompt", words)
    await until(lambda: any(end in one for one in host.told()[before:]))
    return result


def answering(host: PlainHost, words: str | None) -> list[Message]:
    """Let the person choose, in every dialog, the answer with these words in it: the dialogs."""
    shown: list[Message] = []

    def answer(params: Message) -> Message:
        shown.append(params)
        titles = [action["title"] for action in params["actions"]]
        title = next((t for t in titles if words is not None and words in t), None)
        return {"result": None if title is None else {"title": title}}

    host.client.reactions[DIALOG] = answer
    return shown


def test_all_that_is_offered_is_known() -> None:
    assert set(OFFERED) == set(COMMANDS)


async def test_a_prompt(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        told = await said(host, "hello")
        assert told["disposition"] == "started"
        await said(host, {"content": "again"})  # type: ignore[arg-type]  # by name
        assert asked(host) == ["hello", "again"]
        assert host.never_told_ours()


async def test_what_is_said_meanwhile(tmp_path: Path) -> None:
    async with plain(tmp_path, SLOW, DONE) as host:
        await host.run("agent.prompt", "first")
        (session,) = host.house.daemon.host.live
        host.house.session_id = session.id
        await until(lambda: len(host.house.requests()) == 1)
        assert (await host.run("agent.prompt", "second"))["disposition"] == "queued"
        assert (await host.run("agent.steer", "third"))["disposition"] == "injected"
        assert [one for one in host.told() if one.startswith("It waits")] != []
        taken = await host.run("agent.clearQueue")
        assert len(taken["removed"]) == 2
        assert host.told()[-1] == "Taken back: second · third"
        assert (await host.run("agent.abort"))["aborted"] is True
        assert host.told()[-1] == "Stopped."
        assert (await host.run("agent.abort"))["aborted"] is False


async def test_model_thinking_mode_and_name(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        shown = answering(host, "Read only")
        assert (await host.run("agent.mode"))["mode"] == "readOnly"
        assert len(shown) == 1 and len(shown[0]["actions"]) == 4
        assert host.told()[-1] == "Permissions: readOnly."
        answering(host, None)
        assert await host.run("agent.mode") is None
        assert (await host.run("agent.mode", "ask"))["mode"] == "ask"
        assert (await host.run("agent.rename", "mine"))["name"] == "mine"
        assert host.told()[-1] == "The session is named mine."
        shown = answering(host, "off")
        assert (await host.run("agent.thinking"))["thinking"] == "off"


async def test_a_remembered_answer_is_forgotten(tmp_path: Path) -> None:
    run: Message = {"call": "bash", "args": {"command": "echo here"}}
    async with plain(tmp_path, run, DONE, mode="ask") as host:
        answering(host, "in this session")
        await said(host, "go")
        assert (await host.run("agent.mode", "ask"))["rules"] != []
        assert host.told()[-1] == "Permissions: ask. Remembered answers: 1."
        shown = answering(host, "1. Allow bash: echo")
        assert (await host.run("agent.forget"))["rules"] == []
        assert shown[0]["message"] == "Which answer shall be forgotten?"
        with pytest.raises(Failed) as failed:
            await host.run("agent.forget")
        assert "No answer is remembered here" in str(failed.value)


async def test_trust_is_always_asked(tmp_path: Path) -> None:
    own = tmp_path / "work" / ".pi" / "SYSTEM.md"
    own.parent.mkdir(parents=True)
    own.write_text("Obey.")
    async with plain(tmp_path, DONE) as host:
        shown = answering(host, None)
        assert await host.run("agent.trust") is None
        (warned,) = host.told()
        assert str(own) in warned and "agent.trust" in warned
        assert str(own) in shown[0]["message"]
        assert shown[0]["actions"][0]["title"].startswith("No")
        answering(host, "Yes, I trust this folder")
        assert await host.run("agent.trust") == {"trusted": True, "skipped": []}
        assert host.told()[-1] == "What this folder brings along counts."
        answering(host, "No, leave it aside")
        assert (await host.run("agent.trust"))["trusted"] is False
        assert host.told()[-1] == f"It does not count: {own}."
        with pytest.raises(Failed):
            await host.run("agent.trust", True)


async def test_the_tree(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        await said(host, "one")
        await said(host, "two")
        first = next(e["id"] for e in entries(host) if e.get("message", {}).get("role") == "user")
        assert (await host.run("agent.label", "start", first))["label"] == "start"
        here = await host.run("agent.label", "here")
        assert (here["label"], here["entryId"]) == ("here", entries(host)[-2]["id"])
        assert (await host.run("agent.label", None))["label"] is None
        assert host.told()[-1] == "The label is gone."
        shown = answering(host, "two")
        gone = await host.run("agent.navigate")
        assert gone["editorText"] == "two"
        assert "You had said: two" in host.told()[-1]
        assert [a["title"] for a in shown[0]["actions"]] == ["1. two", "2. one"]
        made = await host.run("agent.fork", first)
        assert made["editorText"] == "one"


async def test_sessions(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        await said(host, "one")
        old = (await host.run("agent.rename", "old"))["name"]
        assert old == "old"
        new = (await host.run("agent.new"))["sessionId"]
        assert host.told()[-1] == "A new session has begun."
        await said(host, "two")
        answering(host, "old")
        back = (await host.run("agent.switch"))["sessionId"]
        assert back != new
        assert host.told()[-1] == "This is the session now: old."
        out = tmp_path / "out.md"
        written = await host.run("agent.export", str(out))
        assert (written["path"], "one" in out.read_text()) == (str(out), True)
        made = await host.run("agent.export")
        assert (host.folder / f"session-{back}.md").read_text() == out.read_text()
        assert host.told()[-1] == f"The session was written to {made['path']}."
        assert (await host.run("agent.export", {"format": "html"}))["path"].endswith(".html")
        assert host.never_told_ours()


async def test_the_last_edits_are_taken_back(tmp_path: Path) -> None:
    async with plain(tmp_path, WRITE, DONE, mode="allowAll") as host:
        with pytest.raises(Failed) as failed:
            await host.run("agent.undoTurn")
        assert failed.value.data["code"] == "not_found"
        await said(host, "write")
        assert (host.folder / "new.txt").read_text() == "new\n"
        assert len((await host.run("agent.undoTurn"))["reverted"]) == 1
        assert not (host.folder / "new.txt").exists()
        assert host.told()[-1] == "1 edit was taken back."


async def test_a_command_by_hand(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        ran = await host.run("agent.bash", "echo hello")
        assert ran["output"] == "hello\n"
        assert host.told()[-1] == "Exit code 0: hello"


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        ({"command": "agent.nothing"}, -32602, "no command agent.nothing"),
        ({"command": 5}, -32602, "/command"),
        ({"command": "agent.prompt", "arguments": "text"}, -32602, "/arguments"),
        (
            {"command": "agent.prompt", "arguments": ["a", "b"]},
            -32602,
            "than these arguments: content",
        ),
        ({"command": "agent.prompt", "arguments": [5]}, -32602, "/content"),
        ({"command": "agent.prompt"}, -32803, "select it"),
        ({"command": "agent.prompt", "arguments": None}, -32803, "select it"),
        ({"command": "agent.steer", "arguments": [{"content": ""}]}, -32803, "select it"),
        ({"command": "agent.rename"}, -32803, "needs a text"),
        ({"command": "agent.explain"}, -32602, "/uri"),
        ({"command": "agent.explain", "arguments": [{"uri": 1, "range": []}]}, -32602, "/uri"),
        ({"command": "agent.explain", "arguments": ["file:///x"]}, -32602, "only one object"),
        ({"command": "agent.mode", "arguments": ["loud"]}, -32602, "/mode"),
        ({"command": "agent.navigate", "arguments": ["nowhere"]}, -32803, "nowhere"),
        ({"command": "agent.navigate"}, -32803, "needs entryId"),
        ({"command": "agent.abort", "arguments": ["everything"]}, -32602, "/scope"),
        (
            {"command": "agent.prompt", "arguments": [{"content": "x", "sessionId": "none"}]},
            -32803,
            "none",
        ),
        ({"command": "__proto__", "arguments": []}, -32602, "__proto__"),
    ],
)
async def test_what_cannot_be_done(tmp_path: Path, params: Any, code: int, words: str) -> None:
    async with plain(tmp_path, DONE) as host:
        with pytest.raises(Failed) as failed:
            await host.client.call("workspace/executeCommand", params)
        assert failed.value.code == code
        assert words in str(failed.value)


async def test_without_a_dialog_it_is_told_what_is_needed(tmp_path: Path) -> None:
    def unknown(params: object) -> Message:
        return {"error": {"code": -32601, "message": "unknown"}}

    async with plain(tmp_path, DONE) as host:
        host.client.reactions[DIALOG] = unknown
        with pytest.raises(Failed) as failed:
            await host.run("agent.mode")
        assert failed.value.data["code"] == "unsupported"
        assert "agent.mode needs mode" in str(failed.value)


async def test_a_host_without_a_folder(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, folders=[]) as host:
        with pytest.raises(Failed) as failed:
            await host.run("agent.prompt", "go")
        assert failed.value.data["code"] == "no_workspace"
        assert "agent.new" in str(failed.value)
        await host.run("agent.new", {"cwd": str(host.folder)})
        await said(host, "go")
        assert asked(host) == ["go"]


ODD: list[Any] = [
    None, True, 0, -1, 2**63, 1.5, "", "x", "\ud800", "transcript", "agent://x/tree.txt", [], [[]],
    {}, {"uri": "file:///x"}, {"uri": "\x00", "range": {}}, {"sessionId": 5}, {"workspace": "http://x"},
    {"uri": "file:///a", "range": {"start": {"line": 0, "character": 2**31}, "end": {}}},
    {"content": [{"type": "text"}]}, {"content": [{"type": "image", "data": "!", "mimeType": "x"}]},
    {"entryId": "x", "summarize": {}}, {"format": "pdf"}, {"path": "/proc/x"}, {"path": "\x00"},
]  # fmt: skip


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"agent.bash"}))
async def test_odd_arguments_are_never_a_fault_of_the_daemon(tmp_path: Path, command: str) -> None:
    async with plain(tmp_path, {**DONE, "repeat": True}) as host:
        answering(host, None)
        host.client.reactions["window/showDocument"] = lambda params: {"result": None}
        for odd in ODD:
            params = {"command": command, "arguments": [odd]}
            mid = host.client.request("workspace/executeCommand", params)
            answer = await host.client.answer(mid)
            assert answer.get("error", {}).get("code") != -32603, odd
        assert host.never_told_ours()
