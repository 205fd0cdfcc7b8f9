"""What a host that knows nothing but LSP sees of a turn: progress, one message, a dialog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, until
from tests.rpc.plain import ALL, PlainHost, plain
from tests.rpc.test_commands import asked, entries

DONE: Message = {"text": "done"}
LS: Message = {"call": "ls", "args": {"path": "."}}
WRITE: Message = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}
SLOW: Message = {"text": "slow", "delay": 30}
DIALOG = "window/showMessageRequest"


def kinds(host: PlainHost) -> list[str]:
    return [value["kind"] for value in host.progress()]


async def ended(host: PlainHost, times: int = 1) -> None:
    await until(lambda: kinds(host).count("end") == times)


async def test_a_turn_is_shown_as_work(tmp_path: Path) -> None:
    async with plain(tmp_path, LS, {"text": "The end.", "delay": 0.3}) as host:
        await host.run("agent.prompt", "look")
        await ended(host)
        begin, *reports, _ = host.progress()
        assert begin["cancellable"] is True
        assert begin["message"] in ("thinking", "ls .")
        assert reports[-1]["message"] == "thinking"
        assert len(host.created) == 1
        assert all(n["token"] == host.created[0] for n in host.client.notes("$/progress"))
        await host.until_told("The end.")
        assert host.told() == ["The end.\n(All of it: agent.transcript)"]
        assert host.never_told_ours()


async def test_cancelling_the_work_stops_the_turn(tmp_path: Path) -> None:
    async with plain(tmp_path, SLOW, {"when": "again", **DONE}) as host:
        await host.run("agent.prompt", "go")
        await until(lambda: kinds(host) == ["begin"])
        for token in ("of nobody", 7, {"a": 1}, None):
            host.client.notify("window/workDoneProgress/cancel", {"token": token})
        host.client.notify("window/workDoneProgress/cancel", {"token": host.created[0]})
        await ended(host)
        host.client.notify("window/workDoneProgress/cancel", {"token": host.created[0]})
        await host.run("agent.prompt", "again")
        await host.until_told("done")
        assert host.created[0] != host.created[1]
        assert len(host.told()) == 1  # a stop of one's own needs no message


async def test_a_compaction_and_a_branch_summary_are_shown(tmp_path: Path) -> None:
    answer, summary = {"text": "word " * 400}, {"text": "# Summary", "delay": 0.2}
    settings = {"compaction": {"keepRecentTokens": 10}}
    script = (answer, answer, summary, answer, summary)
    async with plain(tmp_path, *script, settings=settings) as host:
        for count, words in enumerate(("one", "two"), 1):
            await host.run("agent.prompt", words)
            await ended(host, count)
        assert "Summary" in (await host.run("agent.compact", "briefly"))["summary"]
        await ended(host, 3)
        assert any(one.startswith("Compacted: ") for one in host.told())
        await host.run("agent.prompt", "three")
        await ended(host, 4)
        first = next(e["id"] for e in entries(host) if e["type"] == "message")
        assert (await host.run("agent.navigate", first, True))["summaryEntryId"]
        await ended(host, 5)
        begun = [v["message"] for v in host.progress() if v["kind"] == "begin"]
        assert [begun[2], begun[4]] == ["summing up the conversation"] * 2


async def test_cancelling_a_branch_summary_leaves_all_as_it_was(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE, SLOW) as host:
        for count, words in enumerate(("one", "two"), 1):
            await host.run("agent.prompt", words)
            await ended(host, count)
        first = next(e["id"] for e in entries(host) if e["type"] == "message")
        mid = host.client.request(
            "workspace/executeCommand", {"command": "agent.navigate", "arguments": [first, True]}
        )
        await until(lambda: kinds(host).count("begin") == 3)
        token = {"token": host.created[-1]}
        host.client.notify("window/workDoneProgress/cancel", token)
        assert (await host.client.answer(mid))["error"]["code"] == -32800
        await ended(host, 3)


async def test_a_host_that_shows_no_work(tmp_path: Path) -> None:
    windows: list[Any] = [{}, {"workDoneProgress": False}, {"workDoneProgress": "yes"}, None, []]
    for window in windows:
        root = tmp_path / str(type(window).__name__ + str(window))
        root.mkdir()
        capabilities = {**CAPABILITIES, "window": window}
        async with plain(root, DONE, capabilities=capabilities) as host:
            await host.run("agent.prompt", "go")
            await host.until_told("done")
            assert host.created == []


async def test_a_host_that_will_not_show_it_after_all(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        host.client.reactions["window/workDoneProgress/create"] = lambda params: {
            "error": {"code": -32601, "message": "unknown"}
        }
        await host.run("agent.prompt", "go")
        await host.until_told("done")
        assert host.progress() == []


async def test_a_failed_turn_says_why(tmp_path: Path) -> None:
    async with plain(tmp_path, {"error": "boom", "status": 400}) as host:
        await host.run("agent.prompt", "go")
        await host.until_told("The agent could not go on: ")
        assert host.client.notes("window/showMessage")[-1]["type"] == 1


async def test_of_a_long_answer_the_end_is_shown(tmp_path: Path) -> None:
    async with plain(tmp_path, {"text": "beginning " + "word " * 500 + "\nthe end"}) as host:
        await host.run("agent.prompt", "go")
        await host.until_told("the end")
        (told,) = host.told()
        assert told.startswith("… ") and "beginning" not in told
        assert len(told) < 500


async def test_who_speaks_the_agent_protocol_hears_nothing_of_it(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        state = await host.client.call("agent/session/open", {"cwd": str(host.folder)})
        await host.run("agent.prompt", {"content": "go", "sessionId": state["sessionId"]})
        await host.client.until(
            lambda f: (
                f.get("params", {}).get("event", {}).get("type") == "settled"
                if f.get("method") == "agent/event"
                else False
            )
        )
        assert host.told() == [] and host.progress() == []


async def test_a_plain_host_that_begins_to_speak_it(tmp_path: Path) -> None:
    """From its first call of an agent method on it hears events, and no messages any more."""
    async with plain(tmp_path, DONE, DONE) as host:
        await host.run("agent.prompt", "go")
        await host.until_told("done")
        await host.client.call("agent/session/state", {})
        count = len(host.told())
        await host.client.call("agent/prompt", {"content": "again"})
        await host.client.until(
            lambda f: f.get("method") == "agent/event" and f["params"]["event"]["type"] == "settled"
        )
        assert len(host.told()) == count


async def test_leave_is_asked_by_a_dialog(tmp_path: Path) -> None:
    async with plain(tmp_path, WRITE, DONE, mode="ask") as host:
        shown: list[Message] = []

        def allow(params: Message) -> Message:
            shown.append(params)
            return {"result": params["actions"][0]}

        host.client.reactions[DIALOG] = allow
        await host.run("agent.prompt", "write")
        await host.until_told("done")
        assert (host.folder / "new.txt").exists()
        (dialog,) = shown
        assert "new.txt" in dialog["message"]
        assert dialog["actions"][0]["title"] == "Allow once"
        assert "Deny" in [action["title"] for action in dialog["actions"]]


async def test_a_dialog_that_nobody_answers_ends_with_the_turn(tmp_path: Path) -> None:
    async with plain(tmp_path, WRITE, DONE, mode="ask") as host:
        await host.run("agent.prompt", "write")
        dialog = await host.client.until(lambda f: f.get("method") == DIALOG)
        await until(lambda: any("waits" in v.get("message", "") for v in host.progress()))
        host.client.notify("window/workDoneProgress/cancel", {"token": host.created[0]})
        await ended(host)
        assert {"id": dialog["id"]} in host.client.notes("$/cancelRequest")
        assert not (host.folder / "new.txt").exists()


@pytest.mark.parametrize("window", [None, [], 5, "x", {"workDoneProgress": {}}])
@pytest.mark.parametrize("workspace", [None, [], {"configuration": [], "textDocumentContent": 3}])
async def test_odd_capabilities_are_as_good_as_none(
    tmp_path: Path, window: object, workspace: object
) -> None:
    odd = {"window": window, "workspace": workspace, "general": {"positionEncodings": [None, 3]}}
    async with plain(tmp_path, DONE, capabilities=odd) as host:
        await host.run("agent.prompt", "go")
        await host.until_told("done")
        assert asked(host) == ["go"]
        assert odd != ALL


EXTENSION = """
def setup(api):
    async def sign(words):
        api.sign("notice", "Lunch is ready.")
        api.sign("status", "cooking")
        return "shown"
    api.command("sign", "Put up a sign.", sign)
"""


async def test_what_an_extension_says_once_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "agent" / "extensions"
    folder.mkdir(parents=True)
    (folder / "signs.py").write_text(EXTENSION, "utf-8")
    async with plain(tmp_path, DONE) as host:
        await host.run("agent.rename", "mine")
        await host.run("agent.prompt", "/sign")
        await host.until_told("shown")
        assert host.told()[1:] == ["Lunch is ready.", "shown"]
        assert host.never_told_ours()
