"""Files that an editor watches for us: what is asked for, and what a change does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, House, house, until

from singletree.rpc.lsp.watching import matter_of

DONE: Message = {"text": "done"}
CHANGED = "workspace/didChangeWatchedFiles"


def watching(**able: Any) -> Message:
    workspace = {**CAPABILITIES["workspace"], "didChangeWatchedFiles": able}
    return {**CAPABILITIES, "workspace": workspace}


def told(made: House, kind: str) -> int:
    events = [note["event"] for note in made.client.notes("agent/event")]
    return len([event for event in events if event["type"] == kind])


async def registered(root: Path, **able: Any) -> list[Any]:
    """The patterns that were asked for, once that is certain."""
    asked: list[Any] = []

    def register(params: Message) -> Message:
        asked.extend(params["registrations"])
        return {"result": None}

    async with house(root, DONE, hello=False) as made:
        made.client.reactions["client/registerCapability"] = register
        made.capabilities = watching(**able)
        await made.hello()
        await made.open()
        if able.get("dynamicRegistration") is True:
            await until(lambda: asked != [])
    return [w["globPattern"] for one in asked for w in one["registerOptions"]["watchers"]]


async def test_what_is_watched(tmp_path: Path) -> None:
    patterns = await registered(tmp_path, dynamicRegistration=True)
    assert "**/.pi/settings.json" in patterns
    assert all(isinstance(pattern, str) for pattern in patterns)


async def test_the_agent_folder_too_where_it_can_be_named(tmp_path: Path) -> None:
    able = {"dynamicRegistration": True, "relativePatternSupport": True}
    patterns = await registered(tmp_path, **able)
    base = (tmp_path / "agent").as_uri()
    assert {"baseUri": base, "pattern": "skills/**"} in patterns


@pytest.mark.parametrize("able", [{}, {"dynamicRegistration": False}, {"dynamicRegistration": 1}])
async def test_who_cannot_be_asked_is_not_asked(tmp_path: Path, able: Message) -> None:
    assert await registered(tmp_path, **able) == []


async def test_a_new_template_is_told(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        folder = tmp_path / "agent" / "prompts"
        folder.mkdir(parents=True)
        path = folder / "fix.md"
        path.write_text("---\ndescription: Fix it\nargument-hint: <file>\n---\nFix $1")
        made.client.notify(CHANGED, {"changes": [{"uri": path.as_uri(), "type": 1}]})
        await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert told(made, "commands") == 1
        params = {"sessionId": made.session_id, "prefix": "fi"}
        ways = await made.client.call("agent/command/complete", params)
        assert ways["items"] == [{"value": "fix", "description": "Fix it", "inputHint": "<file>"}]


async def test_settings_count_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        path = tmp_path / "agent" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"defaultTools": ["read"]}')
        made.client.notify(CHANGED, {"changes": [{"uri": path.as_uri(), "type": 2}]})
        await until(lambda: told(made, "config") > 0)
        state = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert state["tools"] == ["read"]


@pytest.mark.parametrize(
    "params",
    [None, {}, {"changes": None}, {"changes": [{}]}, {"changes": [{"uri": 5}]}, [], "x"],
)
async def test_wrong_params_do_no_harm(tmp_path: Path, params: object) -> None:
    async with house(tmp_path, DONE) as made:
        made.client.notify(CHANGED, params)
        await made.client.call("agent/session/state", {"sessionId": made.session_id})


def test_what_a_file_means() -> None:
    assert matter_of("file:///w/.pi/settings.json") == "settings"
    assert matter_of("file:///w/.agents/skills/a/SKILL.md") == "commands"
    assert matter_of("file:///home/me/.pi/agent/prompts/p.md") == "commands"
    for other in (
        "file:///w/AGENTS.md",
        "untitled:prompts",
        "",
        "file:.",
        "file:///",
        "http://x/skills/a",
    ):
        assert matter_of(other) is None
