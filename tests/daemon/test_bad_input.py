"""What a person or a client can get wrong: a clear error with a stable code, and nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import daemon, events, opened, place, prompt, settled, text
from tests.model.fake_server import refusal, serving
from tests.rpc.client import RawClient
from tests.rpc.contract import wrong

from singletree.rpc.protocol.errors import CODES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def refused(client: RawClient, method: str, **params: Any) -> Any:
    """The error of a request: one plain line with a code of the contract."""
    answer = await client.answer(client.request(method, params), 30)
    assert "error" in answer, answer
    error = answer["error"]
    plain(error)
    assert error["code"] in (-32803, -32801, -32602)
    assert wrong("ErrorData", error["data"]) == []
    return error


def plain(error: Any) -> None:
    """One line that a person can read, and nothing of our insides."""
    for words in (error["message"], (error.get("data") or {}).get("hint") or "-"):
        assert words.isprintable(), words
        assert "Traceback" not in words and 'File "' not in words


def code(error: Any) -> str:
    assert error["data"]["code"] in CODES
    return str(error["data"]["code"])


async def test_unknown_session_and_unknown_entry(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Hello."}) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "hi")
        await settled(client, sid)
        for method in ("state", "attach", "wait", "close", "rename", "entries", "detach"):
            given = {"sessionId": "nobody", "name": "x"}
            error = await refused(client, f"agent/session/{method}", **given)
            assert code(error) == "session_not_found"
            assert "nobody" in error["message"]
        for method in ("open", "switch", "delete"):
            error = await refused(client, f"agent/session/{method}", sessionId="nobody")
            assert code(error) == "session_not_found"
        for method, name in (
            ("tree/navigate", "entryId"),
            ("tree/label", "entryId"),
            ("tree/get", "around"),
            ("session/fork", "entryId"),
            ("session/entries", "since"),
            ("session/entries", "before"),
        ):
            params: dict[str, Any] = {"sessionId": sid, name: "nothing", "label": None}
            error = await refused(client, f"agent/{method}", **params)
            assert code(error) == "entry_not_found"
        assert (await client.call("agent/session/state", {}))["counts"]["messages"] == 2


async def test_a_place_to_go_on_from_that_nobody_gave(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Hello."}) as client:
        await opened(client, where)
        for method in ("tree/get", "context/get", "session/list"):
            for cursor in ("x", "-1", "1.5", "²", "٣", "", "9" * 40):
                error = await refused(client, f"agent/{method}", cursor=cursor)
                assert error["code"] == -32602
                assert "/cursor" in error["message"]
            beyond = await client.call(f"agent/{method}", {"cursor": "999999999999"})
            assert beyond["next"] is None


async def test_labels_and_names_are_one_short_line(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Hello."}) as client:
        await opened(client, where)
        await prompt(client, None, "hi")
        state = await settled(client, (await client.call("agent/session/state", {}))["sessionId"])
        assert state["lastTurn"]["reason"] == "end_turn"
        entry = (await client.call("agent/tree/get", {}))["rows"][0]["entryId"]
        for method, key in (("tree/label", "label"), ("session/rename", "name")):
            given = {"entryId": entry, key: "x" * 1_000_000}
            error = await refused(client, f"agent/{method}", **given)
            assert (error["code"], f"/{key}" in error["message"]) == (-32602, True)
            given[key] = "one\ntwo\r\n\u2028three\x00"
            assert (await client.call(f"agent/{method}", given))[key] == "one two three"
        given = {"entryId": entry, "label": " \n\t "}
        assert (await client.call("agent/tree/label", given))["label"] is None


async def test_a_queue_is_changed_whole_or_not_at_all(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"parts": [{"text": "One"}, {"wait": 5}]}, {"text": "Two"}) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "first")
        ids = [
            (await client.call("agent/followUp", {"content": text(words)}))["queueId"]
            for words in ("a", "b", "c")
        ]
        for some in ([], ids[:2], [*ids, ids[0]]):
            error = await refused(client, "agent/queue/reorder", queueIds=some)
            assert (error["code"], code(error)) == (-32801, "stale")
        error = await refused(client, "agent/queue/reorder", queueIds=[*ids, "q9"])
        assert code(error) == "not_found"
        for words in ("", " \n "):
            empty = {"queueId": ids[0], "content": text(words)}
            assert code(await refused(client, "agent/queue/update", **empty)) == "input_empty"
        assert code(await refused(client, "agent/queue/update", queueId=ids[0], content=[])) == (
            "input_empty"
        )
        listed = await client.call("agent/queue/list", {})
        assert [i["content"] for i in listed["items"]] == [text(w) for w in ("a", "b", "c")]
        await client.call("agent/abort", {"queue": "return"})


async def test_a_prompt_while_another_runs(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"parts": [{"text": "One"}, {"wait": 1}]}, {"text": "Two"}) as client:
        sid = await opened(client, where)
        started = await prompt(client, sid, "first")
        busy = {"content": text("second"), "sessionId": sid}
        error = await refused(client, "agent/prompt", **busy)
        assert (code(error), error["data"]["retryable"]) == ("session_busy", True)
        assert error["data"]["detail"]["turnId"] == started["turnId"]
        for method, params in (
            ("agent/compact", {}),
            ("agent/tree/navigate", {"entryId": started["messageId"]}),
        ):
            assert code(await refused(client, method, sessionId=sid, **params)) == "session_busy"
        error = await refused(client, "agent/session/delete", sessionId=sid)
        assert code(error) == "session_busy"
        await settled(client, sid)
        await prompt(client, sid, "second")
        assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn"


@pytest.mark.parametrize("content", [[], text(""), text(" \n\t "), [*text(""), *text(" ")], ""])
async def test_an_empty_prompt(tmp_path: Path, content: object) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "x"}) as client:
        sid = await opened(client, where)
        for method in ("prompt", "steer", "followUp"):
            error = await refused(client, f"agent/{method}", sessionId=sid, content=content)
            assert code(error) == "input_empty"
        assert events(client) == []
        assert not list(where.agent_dir.glob("sessions/*/*"))


async def test_no_model(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(defaultModel="nowhere/nothing")
    async with daemon(where, model="") as client:
        sid = await opened(client, where)
        error = await refused(client, "agent/prompt", sessionId=sid, content=text("hi"))
        assert code(error) == "no_model"
        assert "nowhere/nothing" in error["message"]
        assert "settings.json" in error["data"]["hint"]
        state = await client.call("agent/session/state", {"sessionId": sid})
        assert (state["phase"], state["counts"]["entries"]) == ("idle", 0)
        error = await refused(client, "agent/model/set", sessionId=sid, model="a/b")
        assert code(error) == "no_model"
        await client.call("agent/model/set", {"sessionId": sid, "model": "offline/demo"})
        await prompt(client, sid, "hi")
        assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn"


async def test_no_key(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.settings(defaultProvider="anthropic", defaultModel="claude-sonnet-5-5")
    async with daemon(where, model="") as client:
        sid = await opened(client, where)
        error = await refused(client, "agent/prompt", sessionId=sid, content=text("hi"))
        assert code(error) == "auth_required"
        assert error["data"]["provider"]["name"] == "anthropic"
        for words in (error["message"], error["data"]["hint"]):
            assert "ANTHROPIC_API_KEY" in words and "auth.json" in words
        state = await client.call("agent/session/state", {"sessionId": sid})
        assert (state["phase"], state["counts"]["entries"]) == ("idle", 0)


async def test_a_bad_key(tmp_path: Path) -> None:
    where = place(tmp_path)
    body = {"error": {"message": "Incorrect API key provided: sk-bad-1234567890.", "type": "x"}}
    async with serving([refusal(401, body)]) as provider:
        where.models(
            corp={
                "baseUrl": f"{provider.url}/v1",
                "api": "openai-completions",
                "apiKey": "sk-bad-1234567890",
                "models": [{"id": "m"}],
            }
        )
        async with daemon(where, model="corp/m") as client:
            sid = await opened(client, where)
            told = await prompt(client, sid, "remember me")
            last = (await settled(client, sid))["lastTurn"]
            (ended,) = events(client, "turn_ended")
            assert (ended["turnId"], ended["reason"]) == (told["turnId"], "error")
            assert last["error"] == ended["error"]
            assert ended["error"]["code"] == "auth_failed"
            assert ended["error"]["provider"] == {"name": "corp", "status": 401}
            assert "auth.json" in ended["error"]["hint"]
            plain({"message": ended["error"]["message"], "data": ended["error"]})
            assert len(provider.seen) == 1
            assert all("sk-bad" not in str(frame) for frame in client.frames)
            page = await client.call("agent/session/entries", {"sessionId": sid})
            assert "remember me" in str(page["entries"])
    files = [p.read_text() for p in where.agent_dir.glob("sessions/*/*")]
    assert files and all("sk-bad" not in text for text in files)


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.root / "file").write_text("")
    async with daemon(where, {"text": "x"}) as client:
        for named in ("/nowhere/at/all", str(where.root / "file"), "work", "", ".", "~", "a\x00b"):
            for method in ("open", "new"):
                error = await refused(client, f"agent/session/{method}", cwd=named)
                assert code(error) == "workspace_not_found"
        for uri in ("file:///nowhere", "https://example.invalid/w", "untitled:x", "work"):
            for method in ("session/open", "session/state", "prompt"):
                given = {"workspace": uri, "content": text("x")}
                error = await refused(client, f"agent/{method}", **given)
                assert code(error) == "workspace_not_found"
        for method in ("session/open", "session/state", "prompt"):
            error = await refused(client, f"agent/{method}", content=text("x"))
            assert code(error) == "no_workspace"
            assert "agent/session/open" in error["message"]
        sid = await opened(client, where)
        await prompt(client, sid, "x")
        await settled(client, sid)


@pytest.mark.parametrize("name", ["settings.json", "models.json", "auth.json"])
async def test_a_broken_file_of_settings(tmp_path: Path, name: str) -> None:
    """Whatever is broken, the session opens, says what, and can be used."""
    where = place(tmp_path)
    where.agent_dir.mkdir()
    (where.agent_dir / name).write_text('{"defaultModel": ')
    async with daemon(where, {"text": "Fine."}) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "x")
        assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn"
        state = await client.call("agent/session/state", {"sessionId": sid})
        if name == "settings.json":
            assert [w["code"] for w in state["warnings"]] == ["settings"]
            assert "settings.json" in state["warnings"][0]["message"]
        else:
            ref = "openai/gpt-6-sol"
            error = await refused(client, "agent/model/set", sessionId=sid, model=ref)
            assert code(error) == "settings_invalid"
            assert name in error["message"]
    assert (where.agent_dir / name).read_text() == '{"defaultModel": '


LONG = "y" * 300
ODD_PATHS = ["\x00", "/tmp/\x00x", "\ud83d", f"/{LONG}/{LONG}", "~nobody-has-this-name/x"]


@pytest.mark.parametrize("path", [*ODD_PATHS, "/dev/zero", "/proc/self/mem", "/dev", "/"])
async def test_a_path_that_can_be_no_file(tmp_path: Path, path: str) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Hello."}) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "hi")
        await settled(client, sid)
        here: dict[str, Any] = {"cwd": str(where.folder)}
        assert code(await refused(client, "agent/session/new", recover=path, **here)) in (
            "session_not_found",
            "session_unreadable",
        )
        await refused(client, "agent/session/export", format="md", path=path)
        await refused(client, "agent/session/switch", path=path)
        if path in ODD_PATHS:
            await refused(client, "agent/bash", command="true", cwd=path)
        document = {"uri": f"file:///{path}", "version": 1, "languageId": "x", "text": "\ud83d"}
        client.notify("textDocument/didOpen", {"textDocument": document})
        client.notify("textDocument/didClose", {"textDocument": document})
        given = {"key": "shellPath", "value": path}
        kept = await client.call("agent/settings/set", given)
        assert kept["value"] == path.replace("\ud83d", "\ufffd")
        assert (await client.call("agent/session/state", {}))["phase"] == "idle"


@pytest.mark.parametrize("path", [LONG, *ODD_PATHS])
async def test_settings_that_name_no_path(tmp_path: Path, path: str) -> None:
    """They spoil nothing but what they are for."""
    where = place(tmp_path)
    where.settings(skills=[path], prompts=[path], extensions=[path], sandbox={"writable": [path]})
    text = f"{path.strip(chr(0))} in one line"
    arguments = ["--append-system-prompt", text] if text.isprintable() else []
    async with daemon(where, {"text": "Fine."}, arguments=arguments) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "x")
        assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn"
