"""Permissions on the real daemon: asked once, remembered, confined, and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, bash, calls, provided, says
from tests.daemon.real import Place, daemon, opened, place, prompt, settled
from tests.rpc.client import Failed, Message, RawClient

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
            await client.call("agent/session/close", {"sessionId": session_id})
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


async def test_settings_say_how_commands_are_confined(tmp_path: Path) -> None:
    where = place(tmp_path)
    other = where.root / "other"
    other.mkdir()
    line = f"touch {other}/new && echo made; echo ${{SOME_API_KEY-none}} ${{CI-none}}"
    where.settings(environment={"keep": ["SOME_API_KEY"], "drop": ["CI"]})
    replies = [bash(line), says("done")] * 4
    variables = {"SOME_API_KEY": "sk-123456789", "CI": "1"}
    async with (
        provided(where, replies),
        daemon(where, model=MODEL, env=variables) as client,
    ):
        Person(client, "allow_session")
        session_id = await opened(client, where)

        async def run(**sandbox: object) -> str:
            for key, value in sandbox.items():
                change = {"key": f"sandbox.{key}", "value": value, "scope": "user"}
                await client.call("agent/settings/set", {"sessionId": session_id, **change})
            await prompt(client, session_id, "go")
            await settled(client, session_id)
            (other / "new").unlink(missing_ok=True)
            return results(where)[-1]

        kept = "sk-123456789 none\n"
        assert await run() == "made\n" + kept  # a person was asked, so it ran as it is
        confined = await run()
        assert await run(writable=[str(other)]) == "made\n" + kept
        assert await run(writable=[], enabled=False) == "made\n" + kept
        change = {"key": "sandbox.enabled", "value": False, "scope": "workspace"}
        with pytest.raises(Failed, match="only in the user settings"):
            await client.call("agent/settings/set", {"sessionId": session_id, **change})
    assert ("made" not in confined) == can_confine()
    assert confined.endswith(kept) or kept in confined


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


async def test_answers_are_listed_counted_and_taken_back(tmp_path: Path) -> None:
    where, other = place(tmp_path), place(tmp_path / "other")
    (where.root / "outside.txt").write_text("seen\n")
    turn = [
        calls(
            ("c1", "bash", {"command": "ls"}),
            ("c2", "read", {"path": "../outside.txt"}),
            ("c3", "write", {"path": "a.txt", "content": "x"}),
        ),
        says("done"),
    ]
    async with provided(where, turn * 7), daemon(where, model=MODEL) as client:
        person = Person(client, "allow_user")
        session_id = await opened(client, where)

        async def rules(method: str = "list", **params: object) -> Any:
            asked = {"sessionId": session_id, **params}
            return await client.call(f"agent/permission/{method}", asked)

        async def run() -> list[str]:
            person.asked.clear()
            await prompt(client, session_id, "go")
            await settled(client, session_id)
            return [question["subject"]["type"] for question in person.asked]

        assert await rules() == {"rules": [], "mode": "ask"}
        assert await run() == ["command", "read", "edit"]
        assert await run() == await run() == []
        known = (await rules())["rules"]
        assert [(r["tool"], r["pattern"], r["scope"], r["uses"]) for r in known] == [
            ("bash", "ls", "user", 2),
            ("read", f"{where.root}/**", "user", 2),
            ("read", str(where.root), "user", 0),
            ("edit", "**", "user", 2),
        ]
        gone, kept = known[0]["id"], known[1:]
        for ids in ([gone, "nothing"], ["nothing"]):
            with pytest.raises(Failed, match="There is no rule nothing"):
                await rules("remove", ids=ids)
        assert len((await rules())["rules"]) == 4
        assert (await rules("remove", ids=[gone]))["rules"] == kept
        person.option = "deny_once"
        assert await run() == ["command"]

        elsewhere = await opened(client, other)
        assert [r["id"] for r in (await rules())["rules"]] == [r["id"] for r in kept]
        with pytest.raises(Failed):
            await rules("setMode", mode="whatever")
        assert (await rules("setMode", mode="readOnly"))["mode"] == "readOnly"
        await rules("remove", ids=[r["id"] for r in kept])
        person.option = "allow_once"
        assert await run() == ["read"]
        assert "read-only mode" in results(where)[-1]
        assert (await rules("setMode", mode="acceptEdits"))["mode"] == "acceptEdits"
        assert await run() == ["command", "read"]
        other_list = await client.call("agent/permission/list", {"sessionId": elsewhere})
        assert other_list == {"rules": [], "mode": "ask"}
        assert await opened(client, where) == session_id
        assert (await rules())["mode"] == "acceptEdits"
