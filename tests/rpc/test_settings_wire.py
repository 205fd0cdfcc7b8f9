"""Settings over the wire: of files, of the editor, and which of them counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import CAPABILITIES, House, house, until

DONE: Message = {"text": "done"}
PULLED: Message = {
    **CAPABILITIES,
    "workspace": {
        **CAPABILITIES["workspace"],
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
    },
}


async def get(made: House, key: str) -> tuple[Any, str]:
    told = await made.client.call("agent/settings/get", {"sessionId": made.session_id, "key": key})
    return told["value"], told["source"]


async def put(made: House, key: str, value: Any, scope: str = "user") -> Any:
    params = {"sessionId": made.session_id, "key": key, "value": value, "scope": scope}
    return await made.client.call("agent/settings/set", params)


def user_file(made: House) -> Path:
    return made.root / "agent" / "settings.json"


def own_file(made: House) -> Path:
    return made.folder / ".pi" / "settings.json"


async def test_a_setting_is_written_and_counts_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        assert await get(made, "maxSteps") == (500, "default")
        told = await put(made, "compaction.reserveTokens", 100)
        assert (told["value"], told["source"]) == (100, "user")
        assert told["jsonSchema"]["type"] == "integer"
        assert json.loads(user_file(made).read_text()) == {"compaction": {"reserveTokens": 100}}
        await put(made, "compaction.reserveTokens", 200, "workspace")
        assert await get(made, "compaction.reserveTokens") == (200, "workspace")
        assert json.loads(own_file(made).read_text()) == {"compaction": {"reserveTokens": 200}}
        session = made.daemon.host.get(made.session_id)
        assert session.layers.settings.compaction.reserve_tokens == 200
        await put(made, "compaction.reserveTokens", None, "workspace")
        assert await get(made, "compaction.reserveTokens") == (100, "user")


@pytest.mark.parametrize(
    ("key", "value", "scope", "code"),
    [
        ("nothing", 1, "user", "not_found"),
        ("compaction.nothing", 1, "user", "not_found"),
        ("maxSteps", "many", "user", "settings_invalid"),
        ("httpProxy", "http://127.0.0.1:1", "workspace", "settings_invalid"),
    ],
)
async def test_what_cannot_be_set(
    tmp_path: Path, key: str, value: Any, scope: str, code: str
) -> None:
    async with house(tmp_path, DONE) as made:
        with pytest.raises(Failed) as failed:
            await put(made, key, value, scope)
        assert failed.value.data["code"] == code
        assert not user_file(made).exists() and not own_file(made).exists()


async def test_a_switch_to_what_does_not_exist(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        wrong = {"sessionId": made.session_id, "value": "much"}
        for switch in ("thinking", "mode", "nothing"):
            with pytest.raises(Failed) as failed:
                await made.client.call("agent/config/set", {**wrong, "id": switch})
            assert failed.value.data["code"] == "not_found"


async def test_an_unknown_setting_is_not_read(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        with pytest.raises(Failed) as failed:
            await get(made, "compaction.nothing")
        assert failed.value.data["code"] == "not_found"


async def test_a_workspace_that_is_not_trusted_is_not_written_to(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, trust=False) as made:
        session = {"sessionId": made.session_id, "scope": "workspace"}
        for method, params in (
            ("agent/settings/set", {"key": "maxSteps", "value": 7}),
            ("agent/config/set", {"id": "thinking", "value": "off"}),
        ):
            with pytest.raises(Failed) as failed:
                await made.client.call(method, {**session, **params})
            assert failed.value.data["code"] == "untrusted_workspace"
        assert not own_file(made).exists()


async def test_a_settings_file_with_unsaved_changes_is_left_alone(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        await put(made, "maxSteps", 7)
        uri = made.editor.open(user_file(made))
        made.editor.type(uri, 0, 1, " ")
        with pytest.raises(Failed) as failed:
            await put(made, "maxSteps", 8)
        assert "unsaved changes" in str(failed.value)
        assert json.loads(user_file(made).read_text()) == {"maxSteps": 7}


async def test_unsaved_settings_count_once_they_can_be_read(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        await put(made, "maxSteps", 7)
        uri = made.editor.open(user_file(made))
        await made.known(uri)
        made.editor.put(made.editor.buffers[uri], '{"maxSteps": 8')
        assert await get(made, "maxSteps") == (7, "user")
        made.editor.put(made.editor.buffers[uri], '{"maxSteps": 8}')
        assert await get(made, "maxSteps") == (8, "user")


async def test_settings_without_a_session_are_the_users(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        await made.client.call("agent/session/close", {"sessionId": made.session_id})
        told = await made.client.call(
            "agent/settings/set", {"key": "maxSteps", "value": 7, "scope": "user"}
        )
        assert (told["value"], told["source"]) == (7, "user")
        with pytest.raises(Failed) as failed:
            params = {"key": "maxSteps", "value": 7, "scope": "workspace"}
            await made.client.call("agent/settings/set", params)
        assert failed.value.data["code"] == "no_workspace"


@pytest.mark.parametrize("scope", ["user", "workspace"])
async def test_switches_are_kept_in_files(tmp_path: Path, scope: str) -> None:
    async with house(tmp_path, {"model": {"levels": ["off", "low", "high"]}}, DONE) as made:
        session = {"sessionId": made.session_id, "scope": scope}
        await made.client.call("agent/config/set", {**session, "id": "thinking", "value": "high"})
        await made.client.call("agent/config/set", {**session, "id": "tools", "value": ["read"]})
        model = {**session, "id": "model", "value": "offline/demo"}
        await made.client.call("agent/config/set", model)
        path = user_file(made) if scope == "user" else own_file(made)
        assert json.loads(path.read_text()) == {
            "defaultThinkingLevel": "high",
            "defaultTools": ["read"],
            "defaultProvider": "offline",
            "defaultModel": "demo",
        }


async def test_the_mode_is_the_users_to_keep(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, mode=None) as made:
        switch = {"sessionId": made.session_id, "id": "mode", "value": "acceptEdits"}
        with pytest.raises(Failed) as failed:
            await made.client.call("agent/config/set", {**switch, "scope": "workspace"})
        assert failed.value.data["code"] == "settings_invalid"
        assert not own_file(made).exists()
        await made.client.call("agent/config/set", {**switch, "scope": "user"})
    async with house(tmp_path, DONE, mode=None) as made:
        state = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        assert state["mode"] == "acceptEdits"


def config(made: House, values: object) -> None:
    made.client.notify("workspace/didChangeConfiguration", {"settings": values})


async def test_the_editors_settings_stand_above_all_files(tmp_path: Path) -> None:
    agent = {"settings": {"maxSteps": 9}}
    async with house(tmp_path, DONE, agent=agent) as made:
        await put(made, "maxSteps", 7, "workspace")
        assert await get(made, "maxSteps") == (9, "editor")
        config(made, {"agent": {"compaction.reserveTokens": 5, "maxSteps": None}})
        assert await get(made, "compaction.reserveTokens") == (5, "editor")
        assert await get(made, "maxSteps") == (7, "workspace")
        config(made, {"other": {}})
        assert await get(made, "compaction.reserveTokens") == (5, "editor")


async def test_a_wrong_value_of_the_editor_is_told_and_left_out(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        config(made, {"agent": {"maxSteps": "many"}})
        assert await get(made, "maxSteps") == (500, "default")
        state = await made.client.call("agent/session/state", {"sessionId": made.session_id})
        (notice,) = [n for n in state["warnings"] if n["code"] == "settings"]
        assert "the editor's settings" in notice["message"] and "maxSteps" in notice["message"]


async def test_active_tools_follow_the_settings_until_somebody_chooses(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        session = {"sessionId": made.session_id}

        async def tools() -> list[str]:
            await get(made, "maxSteps")
            state = await made.client.call("agent/session/state", session)
            return list(state["tools"])

        config(made, {"agent": {"defaultTools": ["read", "grep"]}})
        assert await tools() == ["read", "grep"]
        chosen = {**session, "id": "tools", "value": ["ls"]}
        await made.client.call("agent/config/set", chosen)
        config(made, {"agent": {"defaultTools": ["read"]}})
        assert await tools() == ["ls"]


async def test_a_client_that_can_be_asked_is_asked(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, capabilities=PULLED, hello=False) as made:
        asked: list[Message] = []
        values: list[Any] = [{"maxSteps": 3}, {"maxSteps": 4}]

        def answer(params: Message) -> Message:
            asked.append(params)
            return {"result": list(values)}

        made.client.reactions["workspace/configuration"] = answer
        made.client.reactions["client/registerCapability"] = lambda params: {"result": None}
        folder = {"uri": made.folder.as_uri(), "name": "work"}
        await made.hello(workspaceFolders=[folder])
        await until(lambda: bool(asked))
        assert asked == [
            {
                "items": [
                    {"section": "agent"},
                    {"scopeUri": made.folder.as_uri(), "section": "agent"},
                ]
            }
        ]
        await made.open()
        assert await get(made, "maxSteps") == (4, "editor")
        values[1] = {"maxSteps": 5}
        config(made, None)
        await until(lambda: len(asked) == 2)
        await until(lambda: made.daemon.host.get(made.session_id).layers.settings.max_steps == 5)
        assert await get(made, "maxSteps") == (5, "editor")


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "unknown"}},
        {"result": None},
        {"result": []},
        {"result": [None, "x"]},
    ],
)
async def test_an_answer_of_no_use_does_no_harm(tmp_path: Path, answer: Message) -> None:
    async with house(tmp_path, DONE, capabilities=PULLED, hello=False) as made:
        asked: list[Message] = []

        def react(params: Message) -> Message:
            asked.append(params)
            return answer

        made.client.reactions["workspace/configuration"] = react
        made.client.reactions["client/registerCapability"] = react
        await made.hello(workspaceFolders=[{"uri": made.folder.as_uri(), "name": "work"}])
        await made.open()
        await until(lambda: len(asked) == 2)
        assert await get(made, "maxSteps") == (500, "default")


async def test_one_that_never_answers_holds_up_nothing(tmp_path: Path) -> None:
    """The registration is not answered, and the settings come all the same."""
    async with house(tmp_path, DONE, capabilities=PULLED, hello=False) as made:
        made.client.reactions["workspace/configuration"] = lambda params: {
            "result": [{"maxSteps": 3} for _ in params["items"]]
        }
        await made.hello()
        await made.open()
        await until(lambda: made.connection.settings.general != {})
        assert await made.say("go") == []
        assert made.daemon.host.get(made.session_id).layers.settings.max_steps == 3


async def test_a_session_waits_for_no_settings(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, capabilities=PULLED, hello=False) as made:
        await made.hello()
        await made.open()
        await made.say("go")
        assert await get(made, "maxSteps") == (500, "default")


@pytest.mark.parametrize("broken", ["file:///w/%00", "file:///[", "untitled:x"])
async def test_a_folder_that_can_be_none_does_no_harm(tmp_path: Path, broken: str) -> None:
    async with house(tmp_path, DONE, capabilities=PULLED, hello=False) as made:
        made.client.reactions["workspace/configuration"] = lambda params: {
            "result": [{"maxSteps": 3} for _ in params["items"]]
        }
        listed = [{"uri": uri, "name": "w"} for uri in (made.folder.as_uri(), broken)]
        await made.hello(workspaceFolders=listed)
        await made.open()
        await until(lambda: made.connection.settings.general != {})
        assert await get(made, "maxSteps") == (3, "editor")


async def test_a_session_is_its_folders_by_whatever_name_it_was_opened(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, hello=False) as made:
        link = tmp_path / "link"
        link.symlink_to(made.folder)
        await made.hello(workspaceFolders=[{"uri": made.folder.as_uri(), "name": "work"}])
        await made.open(cwd=str(link))
        await made.client.call("agent/session/detach", {"sessionId": made.session_id})
        assert [one.id for one in made.daemon.sessions_of(made.connection)] == [made.session_id]
