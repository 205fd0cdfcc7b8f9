"""A real daemon, walked through every method it serves: all that it says is of the contract."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, RawClient, python, spawned
from tests.rpc.contract import fits

from singletree.rpc.protocol import find, methods
from singletree.rpc.protocol.errors import CODES, NUMBERS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SCRIPT = [
    {"thinking": "Let me look.", "text": "I look.", "call": "read", "args": {"path": "a.txt"}},
    {"text": "It says hello."},
    {"when": "make", "calls": [{"tool": "bash", "args": {"command": "echo made"}}]},
    {"text": "Made."},
    {"when": "break", "error": "gone", "code": "provider_error", "status": 500},
    {"when": "wait", "parts": [{"text": "Wait"}, {"wait": 30}]},
    {"when": "big", "text": "x" * 2_000_000, "chunk": 50_000},
]
ALLOW = {"result": {"outcome": "selected", "optionId": "allow"}}


class Walk:
    """A client that knows which method each of its requests was."""

    def __init__(self, client: RawClient) -> None:
        self.client = client
        self.asked: dict[Any, str] = {}
        self.session = ""

    async def ask(self, method: str, **params: Any) -> Any:
        if self.session and method not in ("agent/session/list", "agent/content/read"):
            params = {"sessionId": self.session, **params}
        mid = self.client.request(method, params)
        self.asked[mid] = method
        answer = await self.client.answer(mid, 30)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    async def turn(self, words: str) -> Any:
        """Say something and wait until all is settled: how the turn ended."""
        start = len(self.client.frames)
        told = await self.ask("agent/prompt", content=words)
        await self.event("settled", start)
        ended = await self.event("turn_ended", start)
        assert ended["turnId"] == told["turnId"]
        return ended

    async def event(self, kind: str, start: int = 0) -> Any:
        frame = await self.client.until(
            lambda f: f.get("method") == "agent/event" and f["params"]["event"]["type"] == kind,
            30,
            kind,
            start,
        )
        return frame["params"]["event"]

    async def whole(self, uri: str) -> str:
        """The text behind an address, piece by piece."""
        text, start = "", 0
        while start is not None:
            piece = await self.ask("agent/content/read", uri=uri, range={"start": start})
            text, start = text + piece["text"], piece["next"]
        return text

    def heard(self, kind: str) -> list[Any]:
        told = [params["event"] for params in self.client.notes("agent/event")]
        return [event for event in told if event["type"] == kind]

    def hold_to_the_contract(self) -> None:
        for frame in self.client.frames:
            assert len(json.dumps(frame)) < 1_100_000
            if "method" in frame:
                method = find(frame["method"])
                assert method is None or method.direction == "serverToClient"
                if method is not None:
                    fits(method.params.__name__, frame["params"])
            elif "error" in frame:
                assert frame["error"]["code"] in NUMBERS
                data = frame["error"].get("data", {})
                assert data.get("code", "internal") in CODES
                fits("ErrorData", data)
            elif frame["id"] in self.asked:
                method = find(self.asked[frame["id"]])
                assert method is not None
                assert method.result is not None
                fits(method.result.__name__, frame["result"])


@asynccontextmanager
async def walking(home: Path) -> AsyncIterator[Walk]:
    folder = home / "w"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n")
    script = home / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    command = python("-m", "singletree", "serve", "--stdio", "--model", f"scripted:{script}")
    env = {"HOME": str(home), "PI_CODING_AGENT_DIR": str(home / "agent")}
    async with spawned(*command, env=env, cwd=home) as client:
        client.reactions["agent/permission/request"] = lambda params: ALLOW
        walk = Walk(client)
        hello = await client.initialize(
            {"clientId": "walk", "permissions": {}, "events": {"maxLatencyMs": 1}},
            workspaceFolders=[{"uri": folder.as_uri(), "name": "w"}],
        )
        fits("ServerAgent", hello["capabilities"]["experimental"]["agent"])
        opened = await walk.ask("agent/session/open", workspace=folder.as_uri())
        walk.session = opened["sessionId"]
        yield walk
        walk.hold_to_the_contract()
        await client.call("shutdown")
        client.notify("exit")
        assert await client.exit_code() == 0


async def test_turns_tools_and_questions(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        assert (await walk.turn("look"))["reason"] == "end_turn"
        parts = [(e["kind"], e["part"]) for e in walk.heard("item_ended")]
        assert parts == [("thinking", 0), ("text", 1), ("tool", 2), ("text", 0)]
        assert [e["status"] for e in walk.heard("tool")][-1] == "completed"
        told = "".join(d["text"] for d in walk.client.notes("agent/delta") if d["kind"] == "text")
        assert told == "I look.It says hello."
        assert (await walk.turn("make it"))["reason"] == "end_turn"
        assert walk.client.notes("agent/permission/request") or walk.heard("permission")
        assert (await walk.turn("break it"))["reason"] == "error"
        big = await walk.turn("say something big")
        assert big["reason"] == "end_turn"
        cut = walk.heard("item_ended")[-1]["cut"]
        record = json.loads(await walk.whole(cut))
        assert record["message"]["content"][0]["text"] == "x" * 2_000_000
        call = walk.heard("tool")[0]["toolCallId"]
        output = await walk.whole(f"agent://{walk.session}/tool/{call}/output.txt")
        assert output.startswith("hello")
        with pytest.raises(Failed) as nothing:
            await walk.whole(f"agent://{walk.session}/entry/none.json")
        assert nothing.value.data["code"] == "not_found"


async def test_ids_that_stream_are_those_that_are_stored(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        await walk.turn("look")
        streamed = {e["itemId"] for e in walk.heard("item_ended")}
        stored = {e["entry"]["id"] for e in walk.heard("entry")}
        assert streamed <= stored
        page = await walk.ask("agent/session/entries", limit=50)
        assert stored <= {e["id"] for e in page["entries"]}


async def test_steering_queueing_and_aborting(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        told = await walk.ask("agent/prompt", content="wait for me", clientMessageId="m1")
        again = await walk.ask("agent/prompt", content="wait for me", clientMessageId="m1")
        assert again == told
        await walk.event("item_started")
        with pytest.raises(Failed) as busy:
            await walk.ask("agent/prompt", content="more")
        assert busy.value.data["code"] == "session_busy"
        with pytest.raises(Failed) as stale:
            await walk.ask("agent/steer", content="x", expectedTurnId="t-other")
        assert (stale.value.code, stale.value.data["code"]) == (-32801, "turn_mismatch")
        await walk.ask("agent/steer", content="left", expectedTurnId=told["turnId"])
        await walk.ask("agent/followUp", content="later")
        queue = await walk.ask("agent/queue/list")
        assert [item["kind"] for item in queue["items"]] == ["steer", "followUp"]
        ids = [item["queueId"] for item in queue["items"]]
        await walk.ask("agent/queue/update", queueId=ids[0], content="right")
        await walk.ask("agent/queue/reorder", queueIds=ids)
        await walk.ask("agent/queue/mode", kind="steer", mode="all")
        await walk.ask("agent/queue/remove", queueIds=[ids[1]])
        done = await walk.ask("agent/abort", queue="return")
        assert done["aborted"]
        assert [item["content"][0]["text"] for item in done["queue"]] == ["right"]
        waited = await walk.ask("agent/session/wait")
        assert waited["lastTurn"]["reason"] == "aborted"
        await walk.ask("agent/queue/clear")


async def test_the_tree_and_forgetting(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        await walk.turn("look")
        tree = await walk.ask("agent/tree/get", filter="all", limit=2)
        assert tree["next"] is not None
        tree = await walk.ask("agent/tree/get", filter="all", cursor=tree["next"])
        first = (await walk.ask("agent/tree/get", filter="userOnly"))["rows"][0]
        labeled = await walk.ask("agent/tree/label", entryId=first["entryId"], label="start")
        assert labeled["label"] == "start"
        gone = await walk.ask("agent/tree/navigate", entryId=first["entryId"])
        assert gone["editorText"] == "look"
        with pytest.raises(Failed) as lost:
            await walk.ask("agent/tree/navigate", entryId="nothing")
        assert lost.value.data["code"] == "entry_not_found"
        with pytest.raises(Failed) as short:
            await walk.ask("agent/compact")
        assert short.value.data["code"] == "nothing_to_compact"
        forked = await walk.ask("agent/session/fork", entryId=first["entryId"], position="at")
        assert forked["sessionId"] != walk.session


async def test_sessions_models_and_switches(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        await walk.turn("look")
        for method in ("session/state", "model/list", "thinking/list", "config/list", "usage/get"):
            await walk.ask(f"agent/{method}")
        await walk.ask("agent/thinking/set", level="off")
        await walk.ask("agent/thinking/cycle")
        current = (await walk.ask("agent/model/list"))["current"]
        await walk.ask("agent/model/set", model=current)
        await walk.ask("agent/model/cycle")
        await walk.ask("agent/config/set", id="mode", value="readOnly")
        assert (await walk.ask("agent/session/rename", name="a walk"))["name"] == "a walk"
        listed = await walk.ask("agent/session/list", workspace=(tmp_path / "w").as_uri())
        assert [row["name"] for row in listed["sessions"]] == ["a walk"]
        here = walk.session
        walk.session = ""
        other = await walk.ask("agent/session/new", workspace=(tmp_path / "w").as_uri())
        assert other["sessionId"] != here
        back = await walk.ask("agent/session/switch", sessionId=here)
        assert back["state"]["name"] == "a walk"
        named = {"sessionId": other["sessionId"], "path": listed["sessions"][0]["path"]}
        again = await walk.ask("agent/session/switch", **named)
        assert again["sessionId"] == here, "of both the path counts"
        await walk.ask("agent/session/detach", sessionId=other["sessionId"])
        await walk.ask("agent/session/close", sessionId=here)
        await walk.ask("agent/session/delete", sessionId=here)
        with pytest.raises(Failed) as lost:
            await walk.ask("agent/session/state", sessionId=here)
        assert lost.value.data["code"] == "session_not_found"


async def test_coming_back_with_a_cursor_and_without(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        snapshot = await walk.ask("agent/session/attach")
        assert snapshot["mode"] == "snapshot"
        await walk.turn("look")
        live = [p for p in walk.client.notes("agent/event") if p["seq"] > snapshot["cursor"]["seq"]]
        replay = await walk.ask("agent/session/attach", since=snapshot["cursor"])
        assert replay["mode"] == "replay"
        assert replay["events"] == live
        lost = await walk.ask("agent/session/attach", since={"epoch": "another", "seq": 1})
        assert lost["mode"] == "snapshot"
        assert lost["history"]["entries"]


async def test_one_who_comes_in_the_middle_of_an_answer_is_told_what_streams(
    tmp_path: Path,
) -> None:
    async with walking(tmp_path) as walk:
        await walk.ask("agent/prompt", content="wait for me")
        await walk.client.until(lambda f: f.get("method") == "agent/delta")
        told = await walk.ask("agent/session/attach")
        assert [(p["kind"], p["text"]) for p in told["inFlight"]] == [("text", "Wait")]
        again = await walk.ask("agent/session/attach", since=told["cursor"])
        assert [(p["kind"], p["text"]) for p in again["inFlight"]] == [("text", "Wait")]
        await walk.ask("agent/abort")


async def test_history_comes_by_pages_that_fit_a_message(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        for _ in range(4):
            await walk.turn("x" * 300_000)
        whole = [e["entry"]["id"] for e in walk.heard("entry")]
        found: list[str] = []
        before: str | None = None
        while True:
            page = await walk.ask("agent/session/entries", limit=100, before=before)
            found = [e["id"] for e in page["entries"]] + found
            if (before := page["next"]) is None:
                break
            assert len(page["entries"]) < len(whole)
        assert [i for i in found if i in whole] == whole
        since, again = found[0], found[:1]
        while since is not None:
            page = await walk.ask("agent/session/entries", limit=100, since=since)
            again += [e["id"] for e in page["entries"]]
            since = page["next"]
        assert again == found
        told = await walk.ask("agent/session/attach", since={"epoch": "x", "seq": 0})
        assert told["history"]["prevCursor"] is not None


async def test_more_than_a_message_of_events_is_a_snapshot(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        start = (await walk.ask("agent/session/attach"))["cursor"]
        for _ in range(4):
            await walk.turn("x" * 300_000)
        assert (await walk.ask("agent/session/attach", since=start))["mode"] == "snapshot"


async def test_params_of_the_wrong_shape_are_told_by_pointer(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        with pytest.raises(Failed) as wrong:
            await walk.ask("agent/prompt", content="x", whenBusy="never")
        assert wrong.value.code == -32602
        assert wrong.value.data["errors"][0]["pointer"] == "/whenBusy"


async def test_what_is_planned_is_not_served(tmp_path: Path) -> None:
    async with walking(tmp_path) as walk:
        for method in methods().values():
            if not method.served and method.direction == "clientToServer":
                answer = await walk.client.answer(walk.client.request(method.name, {}))
                assert answer["error"]["code"] == -32601
