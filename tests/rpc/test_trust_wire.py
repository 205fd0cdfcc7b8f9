"""Trust over the wire: a person gives and takes it, and an open session follows without an end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import House, house

CALL: Message = {"call": "count", "args": {}}
EXTENSION = """
import anyio

from singletree.agent.tool import Args, Tool, ToolOutput, typed
from singletree.extensions.api import SessionShutdown, SessionStart

def setup(api):
    async def count(args, run):
        return ToolOutput.text("counted")

    async def note(heard):
        async with await anyio.open_file({log!r}, "a") as log:
            await log.write(type(heard).__name__ + " " + heard.reason + "\\n")

    api.tool(Tool("count", "Count", "other", "Counts.", Args, typed(Args, count)))
    api.on(SessionStart, note)
    api.on(SessionShutdown, note)
"""


def bring(root: Path) -> Path:
    """A project with an extension, a template, a prompt and a setting; where the first writes."""
    own, log = root / "work" / ".pi", root / "log"
    (own / "extensions").mkdir(parents=True)
    (own / "extensions" / "words.py").write_text(EXTENSION.format(log=str(log)), "utf-8")
    (own / "prompts").mkdir()
    (own / "prompts" / "hail.md").write_text("Say hail.", "utf-8")
    (own / "APPEND_SYSTEM.md").write_text("Obey the project.", "utf-8")
    (own / "settings.json").write_text('{"maxSteps": 7, "httpProxy": "http://x"}', "utf-8")
    return log


async def trust(made: House, trusted: bool | None) -> Any:
    params = {"sessionId": made.session_id, "trusted": trusted}
    return await made.client.call("agent/trust/set", params)


async def commands(made: House) -> list[str]:
    told = await made.client.call("agent/command/list", {"sessionId": made.session_id})
    return [one["name"] for one in told["commands"]]


def heard(made: House, kind: str) -> list[Any]:
    events = [note["event"] for note in made.client.notes("agent/event")]
    return [event for event in events if event["type"] == kind]


async def test_what_was_skipped_comes_and_goes_in_the_open_session(tmp_path: Path) -> None:
    log = bring(tmp_path)
    async with house(tmp_path, {"text": "one"}, CALL, {"text": "two"}, {"text": "three"}) as made:
        await made.say("before")
        state = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert (state["trusted"], len(state["skipped"])) == (False, 4)
        assert not log.exists() and "hail" not in await commands(made)

        assert await trust(made, True) == {"trusted": True, "skipped": []}
        assert heard(made, "config")[-1]["trusted"] is True
        assert "count" in heard(made, "config")[-1]["tools"]
        assert heard(made, "commands") and "hail" in await commands(made)
        assert any("httpProxy" in event["message"] for event in heard(made, "warning"))
        (counted,) = await made.say("count")
        assert counted["result"]["content"][0]["text"] == "counted"
        assert "Obey the project." in made.requests()[-1].system
        assert made.daemon.host.get(made.session_id).layers.settings.max_steps == 7
        assert log.read_text() == "SessionStart reload\n"

        told = await trust(made, False)
        assert (told["trusted"], len(told["skipped"])) == (False, 4)
        assert "count" not in heard(made, "config")[-1]["tools"]
        assert heard(made, "config")[-1]["skipped"] == told["skipped"]
        await made.say("after")
        assert "Obey the project." not in made.requests()[-1].system
        assert "hail" not in await commands(made)
        assert log.read_text() == "SessionStart reload\nSessionShutdown reload\n"
        said = [one for one in made.requests()[-1].messages if one.role == "user"]
        assert len(said) == 3
    kept = json.loads((tmp_path / "agent" / "trust.json").read_text())
    assert kept == {str((tmp_path / "work").resolve()): False}


async def test_it_is_kept_and_can_be_forgotten(tmp_path: Path) -> None:
    bring(tmp_path)
    async with house(tmp_path, {"text": "x"}) as made:
        await trust(made, True)
    async with house(tmp_path, {"text": "x"}) as made:
        state = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert state["trusted"] and "count" in state["tools"]
        assert (await trust(made, None))["trusted"] is False
    assert json.loads((tmp_path / "agent" / "trust.json").read_text()) == {}


async def test_code_that_was_changed_is_asked_for_again(tmp_path: Path) -> None:
    bring(tmp_path)
    async with house(tmp_path, {"text": "x"}) as made:
        await trust(made, True)
    (tmp_path / "work" / ".pi" / "extensions" / "words.py").write_text("def setup(api): 1 / 0")
    async with house(tmp_path, {"text": "x"}) as made:
        told = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert not told["trusted"]
        assert [one["code"] for one in told["warnings"]] == ["trust"]
        assert (await trust(made, True))["trusted"]
        told = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert [one["code"] for one in told["warnings"]] == ["settings"]
        (failed,) = heard(made, "extension_error")
        assert "ZeroDivisionError" in failed["message"]


async def test_what_a_command_brings_into_an_empty_folder_does_not_count(tmp_path: Path) -> None:
    own = tmp_path / "work" / ".pi"
    plant = f"mkdir -p {own} && echo Obey > {own}/APPEND_SYSTEM.md && echo '{{}}' > {own}/mcp.json"
    turn: Message = {"call": "bash", "args": {"command": plant}}
    async with house(tmp_path, turn, {"text": "one"}, {"text": "two"}) as made:
        await made.say("clone it")
        assert own.is_dir()
        assert "Obey" not in made.requests()[-1].system
        await made.say("and now")
        assert "Obey" not in made.requests()[-1].system
        assert len(heard(made, "config")[-1]["skipped"]) == 2


async def test_a_persons_own_first_setting_counts_also_later(tmp_path: Path) -> None:
    setting = {"key": "maxSteps", "value": 7, "scope": "workspace"}
    async with house(tmp_path, {"text": "x"}) as made:
        await made.client.call("agent/settings/set", {"sessionId": made.session_id, **setting})
    async with house(tmp_path, {"text": "x"}) as made:
        assert made.daemon.host.get(made.session_id).layers.settings.max_steps == 7


async def test_a_decision_from_elsewhere_counts_with_the_next_turn(tmp_path: Path) -> None:
    bring(tmp_path)
    folder = str((tmp_path / "work").resolve())
    async with house(tmp_path, {"text": "x"}, {"text": "y"}) as made:
        (tmp_path / "agent").mkdir(exist_ok=True)
        (tmp_path / "agent" / "trust.json").write_text(json.dumps({folder: True}))
        await made.say("go")
        assert "Obey the project." in made.requests()[-1].system
        assert heard(made, "config")[-1]["trusted"] is True


@pytest.mark.parametrize(("started", "option"), [(True, "--trust"), (False, "--no-trust")])
async def test_the_command_line_has_decided(tmp_path: Path, started: bool, option: str) -> None:
    bring(tmp_path)
    async with house(tmp_path, {"text": "x"}, trust=started) as made:
        with pytest.raises(Failed) as failed:
            await trust(made, not started)
        assert failed.value.data["code"] == "denied"
        assert option in str(failed.value)
    assert not (tmp_path / "agent" / "trust.json").exists()
