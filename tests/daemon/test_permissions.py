"""Permissions on the real daemon: asked once, remembered, confined, and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, bash, calls, provided, says
from tests.daemon.real import Place, daemon, opened, place, prompt, settled
from tests.rpc.client import Message, RawClient

from singletree.tools.sandbox import can_confine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


class Person:
    """Chooses the option with an id, and keeps what was asked."""

    def __init__(self, client: RawClient, option: str) -> None:
        self.asked: list[Any] = []
        self.option = option
        client.reactions["agent/permission/request"] = self.answer

    def answer(self, params: Any) -> Message:
        self.asked.append(params)
        return {"result": {"outcome": "selected", "optionId": self.option}}


def results(where: Place) -> list[str]:
    (path,) = where.agent_dir.glob("sessions/*/*")
    messages = [json.loads(line).get("message", {}) for line in path.read_bytes().splitlines()]
    return [m["content"][0]["text"] for m in messages if m.get("role") == "toolResult"]


async def test_a_rule_of_the_workspace_holds_after_a_restart(tmp_path: Path) -> None:
    where = place(tmp_path)
    replies = [bash("echo one; cat ../outside"), says("done")] * 2
    (where.root / "outside").write_text("seen\n")
    async with provided(where, replies):
        async with daemon(where, model=MODEL) as client:
            person = Person(client, "allow_workspace")
            session_id = await opened(client, where)
            await prompt(client, session_id, "go")
            await settled(client, session_id)
            (question,) = person.asked
            assert question["subject"]["type"] == "command"
            assert question["subject"]["command"] == "echo one; cat ../outside"
            assert [o["id"] for o in question["options"]][:3] == [
                "allow_once",
                "allow_session",
                "allow_workspace",
            ]
            assert question["options"][2]["pattern"] == "echo && cat"
        async with daemon(where, model=MODEL) as client:
            person = Person(client, "deny_once")
            session_id = await opened(client, where)
            await prompt(client, session_id, "again")
            await settled(client, session_id)
            assert person.asked == []
    assert results(where) == ["one\nseen\n"] * 2
    stored = json.loads((where.agent_dir / "singletree/permissions.json").read_text())
    assert [(rule["pattern"], rule["uses"]) for rule in stored["rules"]] == [
        ("echo", 1),
        ("cat", 1),
    ]
    assert not list(where.folder.iterdir())


async def test_what_a_rule_allows_is_confined_and_may_ask_to_leave(tmp_path: Path) -> None:
    where = place(tmp_path)
    line = "touch ../outside"
    free = calls(("c2", "bash", {"command": line, "unconfined": True}))
    replies = [bash("touch inside"), bash(line), free, says("done")]
    async with provided(where, replies), daemon(where, model=MODEL) as client:
        person = Person(client, "allow_session")
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        reasons = [question["reason"] for question in person.asked]
    if can_confine():
        assert len(reasons) == 2
        assert reasons[1].startswith("It would run outside the sandbox")
        told = results(where)
        assert "call bash again with unconfined set to true" in told[1]
        assert told[2] == "(no output)"
    else:
        assert len(reasons) == 1
    assert (where.root / "outside").exists()


async def test_an_edit_is_asked_for_with_its_diff(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "a.txt").write_text("old\n")
    edit = {"path": "a.txt", "edits": [{"oldText": "old", "newText": "new"}]}
    replies = [calls(("c1", "edit", edit)), says("done")]
    async with provided(where, replies), daemon(where, model=MODEL) as client:
        person = Person(client, "allow_once")
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        (question,) = person.asked
        assert question["subject"]["type"] == "edit"
        assert question["subject"]["paths"] == [str(where.folder / "a.txt")]
        assert "-old\n+new" in question["subject"]["diff"]
        assert question["editableInput"] == edit
    assert (where.folder / "a.txt").read_text() == "new\n"
