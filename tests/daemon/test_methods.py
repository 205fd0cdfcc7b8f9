"""Every method that is served, driven once by pytest-lsp over real stdio.

The client may speak only what the contract says and hears only what the contract says. Read next:
test_ladder.py (who is asked for permission, and how).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from tests.daemon.lsp import OURS, SILENCE, Contract, Person, allow, contract
from tests.daemon.real import Place, place

from singletree.host.options import Options
from singletree.rpc.daemon import Daemon
from singletree.rpc.declared import declare
from singletree.rpc.protocol import methods
from singletree.rpc.server import Topics

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

EDIT = {"path": "a.txt", "edits": [{"oldText": "hello", "newText": "bye"}]}
CLIENT = {
    **OURS,
    "editor": {"applyEdit": "open", "read": {}, "save": {}},
    "ui": {"dialogs": ["input"], "status": {}},
}
TURNS = (
    {"model": {"levels": ["off", "low", "high"]}},
    {"thinking": "Hm.", "text": "I look.", "call": "read", "args": {"path": "a.txt"}},
    {"text": "It says hello."},
    {"when": "<conversation>", "text": "## Goal\nA summary.", "repeat": True},
    {"when": "write", "call": "write", "args": {"path": "b.txt", "content": "x"}},
    {"text": "Written."},
    {"loop": True},
    {"when": "edit", "call": "edit", "args": EDIT},
    {"text": "Edited."},
    {"when": "long", "parts": [{"text": "Wait. "}, {"wait": 60}], "repeat": True},
)


ASKER = """
from singletree.extensions.dialog import Dialog

def setup(api):
    async def ask(words):
        api.sign("status", "asking")
        return str((await api.show(Dialog("input", "Your name?"))).value)
    api.command("ask", "Ask.", ask)
"""


async def test_every_served_method(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "a.txt").write_text("hello\n")
    where.settings(compaction={"keepRecentTokens": 1})
    (where.agent_dir / "extensions").mkdir()
    (where.agent_dir / "extensions" / "asker.py").write_text(ASKER)
    async with contract(where, *TURNS, agent=CLIENT) as daemon:
        person = Person(daemon.client, "agent/permission/request", allow)
        await _talk(daemon)
        assert [one["toolCallId"] for one in person.asked] == ["call_2"]
        asked = await _edit(daemon, where.folder / "a.txt") | await _dialog(daemon)
        await _queue(daemon)
        person.answer = lambda params: SILENCE
        await _ask_and_abort(daemon)
        await _tree(daemon)
        await _switches(daemon)
        await _leave_and_keys(daemon)
        await _sessions(daemon, place(tmp_path / "other"))
        sent = daemon.hold_to_the_contract()
    mine = {m.name for m in methods().values() if m.served and m.direction == "clientToServer"}
    theirs = {m.name for m in methods().values() if m.served and m.direction == "serverToClient"}
    assert daemon.driven == mine
    assert sent | asked | {"agent/permission/request"} == theirs


def test_what_is_served_is_what_the_contract_says(tmp_path: Path) -> None:
    served = {n for n in Topics(Daemon(Options(tmp_path, {}))) if n.startswith("agent/")}
    said = {m.name for m in methods().values() if m.served and m.direction == "clientToServer"}
    assert served == said
    assert declare()["methods"] == sorted(said, key=list(methods()).index)


def words(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


async def _talk(daemon: Contract) -> None:
    assert (await daemon.turn("look"))["reason"] == "end_turn"
    assert (await daemon.turn("write it"))["reason"] == "end_turn"
    told = [one["event"] for one in daemon.told("agent/event")]
    shown = [one for one in told if one["type"] == "tool" and one["toolCallId"] == "call_2"]
    statuses = [one["status"] for one in shown]
    assert statuses == ["streaming", "pending", "pending", "running", "completed"]
    assert shown[2]["requestId"] and shown[3]["requestId"] is None
    phases = [one["phase"] for one in told if one["type"] == "state"]
    assert phases == ["running", "idle", "running", "requires_action", "running", "idle"]
    asked = [one["status"] for one in told if one["type"] == "permission"]
    assert asked == ["open", "allowed"]


async def _edit(daemon: Contract, file: Path) -> set[str]:
    """An edit in an open document, proven by the text that the editor gives, and taken back."""
    client, uri = daemon.client, file.as_uri()
    item = types.TextDocumentItem(uri, "text", 1, "hello\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    text = {1: "hello\n", 2: "bye\n", 3: "hello\n"}
    version = 1

    def read(params: object) -> object:
        nonlocal version
        version += 1
        file.write_text(text[version])
        change = types.TextDocumentContentChangeWholeDocument(text[version])
        document = types.VersionedTextDocumentIdentifier(version, uri)
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return {"text": text[version], "version": version}

    Person(client, "workspace/applyEdit", lambda params: {"applied": True})
    Person(client, "agent/editor/read", read)
    saving = Person(client, "agent/editor/save", lambda params: {"saved": [uri]})
    assert (await daemon.turn("edit it"))["reason"] == "end_turn"
    (edit,) = [e for e in (await daemon.call("agent/edits/list"))["edits"] if e["uri"] == uri]
    assert (edit["by"], edit["undone"]) == ("editor", False)
    done = await daemon.call("agent/edits/revert", editIds=[edit["editId"]])
    assert done == {"reverted": [edit["editId"]], "refused": []}
    assert version == 3
    assert [params["uris"] for params in saving.asked] == [[uri], [uri]]
    return {"agent/editor/read", "agent/editor/save"}


async def _dialog(daemon: Contract) -> set[str]:
    person = Person(daemon.client, "agent/ui/request", lambda params: {"value": "Kim"})
    told = await daemon.call("agent/prompt", content=words("/ask"))
    assert (told["disposition"], told["note"]) == ("handled", "Kim")
    assert [one["kind"] for one in person.asked] == ["input"]
    return {"agent/ui/request"}


async def _queue(daemon: Contract) -> None:
    started = await daemon.call("agent/prompt", content=words("long"))
    await daemon.event("item_started", len(daemon.client.events) - 1)
    steered = await daemon.call("agent/steer", content=words("S"), expectedTurnId=started["turnId"])
    assert steered["disposition"] == "injected"
    later = await daemon.call("agent/followUp", content=words("F"))
    assert (later["disposition"], later["position"]) == ("queued", 1)
    listed = await daemon.call("agent/queue/list")
    first, second = [item["queueId"] for item in listed["items"]]
    changed = await daemon.call(
        "agent/queue/update", queueId=second, content=words("G"), version=listed["version"]
    )
    assert changed["items"][1]["content"] == words("G")
    turned = await daemon.call("agent/queue/reorder", queueIds=[second, first])
    assert [item["queueId"] for item in turned["items"]] == [second, first]
    assert await daemon.call("agent/queue/mode", kind="steer", mode="all") == {
        "steer": "all",
        "followUp": "one-at-a-time",
    }
    taken = await daemon.call("agent/queue/remove", queueIds=[first])
    assert [item["queueId"] for item in taken["removed"]] == [first]
    aborted = await daemon.call("agent/abort")
    assert aborted == {"aborted": True, "forced": False}
    waited = await daemon.call("agent/session/wait", **{"for": "settled"})
    assert waited == {
        "phase": "idle",
        "lastTurn": {"turnId": started["turnId"], "reason": "aborted"},
    }
    cleared = await daemon.call("agent/queue/clear")
    assert [item["queueId"] for item in cleared["removed"]] == [second]


async def _leave_and_keys(daemon: Contract) -> None:
    """Rules can be listed and taken back; a key goes in and never comes out."""
    listed = await daemon.call("agent/permission/list")
    assert listed["mode"] == "ask"
    run = await daemon.call("agent/bash", command="echo by hand")
    assert (run["output"].strip(), run["exitCode"]) == ("by hand", 0)
    commands = (await daemon.call("agent/command/list"))["commands"]
    assert all(one["name"] for one in commands)
    ways = (await daemon.call("agent/command/complete", prefix="thinking o"))["items"]
    assert ways == [{"value": "thinking off"}]
    seen = await daemon.call("agent/context/get")
    assert seen["tokens"] == sum(part["tokens"] for part in seen["parts"][: seen["seen"]])
    trusted = {"trusted": True, "skipped": []}
    assert await daemon.call("agent/trust/set", trusted=True) == trusted
    assert await daemon.call("agent/trust/set", trusted=None) == trusted
    read_only = await daemon.call("agent/permission/setMode", mode="readOnly")
    assert read_only["mode"] == "readOnly"
    ids = [rule["id"] for rule in listed["rules"]]
    assert (await daemon.call("agent/permission/remove", ids=ids))["rules"] == []
    key = "sk-test-never-shown"
    kept = await daemon.call("agent/auth/login", provider="groq", key=key)
    assert [(p["status"], p["source"]) for p in kept["providers"]] == [("configured", "auth.json")]
    assert key not in str(await daemon.call("agent/auth/status"))
    gone = await daemon.call("agent/auth/logout", provider="groq")
    assert [p["status"] for p in gone["providers"]] == ["missing"]


async def _ask_and_abort(daemon: Contract) -> None:
    """A question that nobody answers: it can be listed, and an abort takes it off the screen."""
    start = len(daemon.client.events)
    await daemon.call("agent/prompt", content=words("write more"))
    opened = await daemon.event("permission", start, status="open")
    state = await daemon.call("agent/session/state")
    assert (state["phase"], state["pending"]) == ("requires_action", [opened["requestId"]])
    attached = await daemon.call("agent/session/attach")
    assert [one["requestId"] for one in attached["pending"]] == [opened["requestId"]]
    await daemon.call("agent/abort")
    (resolved,) = daemon.told("agent/request/resolved")
    assert (resolved["requestId"], resolved["by"]) == (opened["requestId"], "abort")
    await daemon.event("permission", start, status="cancelled")
    assert (await daemon.call("agent/session/state"))["pending"] == []


async def _tree(daemon: Contract) -> None:
    page = await daemon.call("agent/session/entries", limit=1000, branch="all")
    assert page["leafId"] is not None
    whole = f"agent://{daemon.session}/entry/{page['leafId']}.json"
    piece = await daemon.call("agent/content/read", uri=whole, range={"start": 0, "end": 9})
    assert (piece["text"], piece["next"]) == ('{"type":"', 9)
    rows = (await daemon.call("agent/tree/get", filter="userOnly"))["rows"]
    ends = {"from": rows[0]["entryId"], "to": page["leafId"]}
    diff = await daemon.call("agent/tree/diff", **ends)
    assert (diff["ancestorId"], diff["abandoned"]["count"]) == (ends["from"], 0)
    label = await daemon.call("agent/tree/label", entryId=rows[1]["entryId"], label="here")
    assert label["label"] == "here"
    await daemon.call("agent/config/set", id="tools", value=["read"])
    compacted = await daemon.call("agent/compact", instructions="Be short.", workDoneToken="t")
    assert "A summary." in compacted["summary"]
    moved = await daemon.call(
        "agent/tree/navigate",
        entryId=rows[1]["entryId"],
        expectedLeafId=(await daemon.call("agent/session/state"))["leafId"],
        summarize={"instructions": "Be short."},
    )
    assert moved["editorText"] == "write it" and moved["summaryEntryId"] == moved["leafId"]
    used = await daemon.call("agent/usage/get")
    assert [one["model"] for one in used["models"]] == ["scripted/script.jsonl", "summaries"]


async def _switches(daemon: Contract) -> None:
    listed = await daemon.call("agent/model/list", usable=True)
    assert listed["current"].startswith("scripted:")
    assert (await daemon.call("agent/thinking/list"))["levels"] == ["off", "low", "high"]
    told = await daemon.call("agent/thinking/set", level="medium")
    note = "scripted/script.jsonl has no level medium; it has off, low, high."
    assert told == {"thinking": "high", "note": note}
    assert await daemon.call("agent/thinking/cycle") == {"thinking": "off"}
    kept = await daemon.call("agent/settings/set", key="maxSteps", value=7, scope="user")
    assert (kept["value"], kept["source"]) == (7, "user")
    assert await daemon.call("agent/settings/get", key="maxSteps") == kept
    options = (await daemon.call("agent/config/list"))["configOptions"]
    assert [one["id"] for one in options] == ["model", "thinking", "mode", "tools"]
    assert (await daemon.call("agent/model/set", model="offline/demo"))["model"] == "offline/demo"
    assert (await daemon.call("agent/model/cycle"))["model"]


async def _sessions(daemon: Contract, other: Place) -> None:
    first = daemon.session
    assert await daemon.call("agent/session/rename", name="one") == {"name": "one"}
    exported = await daemon.call("agent/session/export", format="md")
    assert exported["text"].startswith("# one\n")
    rows = (await daemon.call("agent/tree/get"))["rows"]
    forked = await daemon.call("agent/session/fork", entryId=rows[0]["entryId"], position="at")
    made = await daemon.call("agent/session/new", cwd=str(other.folder), name="two")
    assert made["state"]["name"] == "two"
    back = await daemon.call("agent/session/switch", sessionId=first)
    assert back["sessionId"] == first
    await daemon.call("agent/session/detach", sessionId=forked["sessionId"])
    listed = await daemon.call("agent/session/list")
    assert {row["sessionId"] for row in listed["sessions"]} >= {first}
    await daemon.call("agent/session/close", sessionId=forked["sessionId"])
    await daemon.call("agent/session/delete", sessionId=forked["sessionId"])
    changed = [one["reason"] for one in daemon.told("agent/sessions/changed")]
    assert changed[-2:] == ["closed", "deleted"]
