"""Two editors on one session through the real shared daemon: what each hears, asks and answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.daemon.real import HELLO, allow, events, opened, prompt, settled, tells
from tests.daemon.shared import Shared, shared
from tests.rpc.client import Failed, Message, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

ASKS = (
    {"call": "bash", "args": {"command": "touch made.txt; seq 20000"}},
    {"text": "Done."},
    {"loop": True},
)
HI = ({"text": "Hello."}, {"loop": True})
EXTENSION = """
from singletree.extensions.dialog import Dialog

def setup(api):
    async def ask(words):
        return "Hello " + str((await api.show(Dialog("input", "Your name?"))).value)

    async def sign(words):
        kind, key, text = words.split(" ")
        api.sign(kind, text if text != "-" else None, key=key)

    api.command("ask", "Ask for a name.", ask)
    api.command("sign", "Put up a sign.", sign)
"""
UI = {"dialogs": ["input"], "status": {}, "widgets": {}}


def named(name: str, **more: object) -> Message:
    return HELLO | {"clientId": name} | more


def asked(frame: Message) -> bool:
    return frame.get("method") in ("agent/permission/request", "agent/ui/request")


def takes_back(mid: int, frame: Message) -> bool:
    return (frame.get("method"), frame.get("params")) == ("$/cancelRequest", {"id": mid})


def with_extension(here: Shared) -> None:
    folder = here.where.agent_dir / "extensions"
    folder.mkdir()
    (folder / "extension.py").write_text(EXTENSION)


async def refused(client: RawClient, method: str, params: object) -> Any:
    with pytest.raises(Failed) as caught:
        await client.call(method, params)
    return caught.value.data["code"]


async def test_the_first_answer_wins_and_the_output_is_read_by_the_other() -> None:
    with shared(*ASKS) as here:
        async with here.attached(named("one")) as one, here.attached(named("two")) as two:
            session_id = await opened(one, here.where)
            await opened(two, here.where)
            await prompt(one, session_id, "go")
            question = await one.until(asked)
            theirs = await two.until(asked)
            assert theirs["params"] == question["params"]
            state = await two.call("agent/session/state", {"sessionId": session_id})
            assert state["phase"] == "requires_action"
            two.send({"jsonrpc": "2.0", "id": theirs["id"], **allow(theirs["params"])})
            await settled(two, session_id)
            one.send({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": "cancelled"}})
            request_id = question["params"]["requestId"]
            told = {"sessionId": session_id, "requestId": request_id, "by": "two"}
            assert one.notes("agent/request/resolved") == [told]
            assert two.notes("agent/request/resolved") == []
            assert (here.where.folder / "made.txt").exists()
            last = next(e for e in events(one, "tool") if e["status"] == "completed")
            uri = f"agent://{session_id}/tool/{last['toolCallId']}/output.txt"
            piece = await two.call("agent/content/read", {"uri": uri})
            assert "\n20000\n" in piece["text"]
            await one.until(tells("settled"))
            await two.until(tells("settled"))
            assert events(one) == events(two)


async def test_of_two_with_one_name_the_other_takes_the_question_off_the_screen() -> None:
    with shared(*ASKS) as here:
        async with here.attached(named("one")) as one, here.attached(named("one")) as two:
            session_id = await opened(one, here.where)
            await opened(two, here.where)
            await prompt(one, session_id, "go")
            question = await one.until(asked)
            await two.until(asked)
            one.send({"jsonrpc": "2.0", "id": question["id"], **allow(question["params"])})
            await settled(one, session_id)
            await two.until(tells("settled"))
            (told,) = two.notes("agent/request/resolved")
            assert told["requestId"] == question["params"]["requestId"]
            assert one.notes("agent/request/resolved") == []


async def test_an_abort_takes_the_question_back_from_everybody() -> None:
    with shared(*ASKS) as here:
        async with here.attached(named("one")) as one, here.attached(named("two")) as two:
            session_id = await opened(one, here.where)
            await opened(two, here.where)
            await prompt(one, session_id, "go")
            ids = [(client, (await client.until(asked))["id"]) for client in (one, two)]
            assert (await two.call("agent/abort", {"sessionId": session_id}))["aborted"]
            for client, mid in ids:
                await client.until(partial(takes_back, mid))
                client.send(
                    {"jsonrpc": "2.0", "id": mid, "error": {"code": -32800, "message": "-"}}
                )
            attached = await one.call("agent/session/attach", {"sessionId": session_id})
            assert attached["pending"] == []
            assert not (here.where.folder / "made.txt").exists()


async def test_a_dialog_and_signs_are_there_again_after_a_reload() -> None:
    with shared(*HI) as here:
        with_extension(here)
        async with here.attached(named("one", ui=UI)) as one:
            session_id = await opened(one, here.where)
            for words in ("status mood fine", "widget list a", "notice n once", "title t Talk",
                          "widget list b", "title t -"):  # fmt: skip
                await prompt(one, session_id, f"/sign {words}")
            shown = [(n["kind"], n["key"], n["payload"]) for n in one.notes("agent/ui/update")]
            assert shown == [
                ("status", "extension.mood", "fine"),
                ("widget", "extension.list", "a"),
                ("title", "extension.t", "Talk"),
                ("widget", "extension.list", "b"),
                ("title", "extension.t", None),
            ]
            one.request("agent/prompt", {"sessionId": session_id, "content": "/ask"})
            question = await one.until(asked)
            assert one.process is not None
            one.process.kill()
        bare, full = named("bare"), named("full", ui=UI)
        async with here.attached(bare) as two, here.attached(full) as three:
            await opened(two, here.where)
            lost = {"epoch": "another life", "seq": 3}  # no replay of it: a snapshot, and once
            where = {"sessionId": session_id, "since": lost}
            attached = await three.call("agent/session/attach", where)
            assert attached["mode"] == "snapshot"
            assert attached["pending"] == [
                {
                    "requestId": question["params"]["requestId"],
                    "method": "agent/ui/request",
                    "params": question["params"],
                }
            ]
            again = await three.until(asked)
            assert [(n["key"], n["payload"]) for n in three.notes("agent/ui/update")] == [
                ("extension.mood", "fine"),
                ("extension.list", "b"),
            ]
            assert two.notes("agent/ui/update") == []
            three.send({"jsonrpc": "2.0", "id": again["id"], "result": {"value": "Kim"}})
            ended = await two.until(
                lambda f: f.get("params", {}).get("event", {}).get("status") == "answered"
            )
            assert ended["params"]["event"]["by"] == "full"


async def test_who_has_detached_hears_no_more_but_hears_of_sessions() -> None:
    with shared(*HI) as here:
        async with here.attached(named("one")) as one, here.attached(named("two")) as two:
            session_id = await opened(one, here.where)
            await opened(two, here.where)
            assert await two.call("agent/session/detach", {"sessionId": session_id}) == {}
            assert await two.call("agent/session/detach", {"sessionId": session_id}) == {}
            before = len(events(two))
            await prompt(one, session_id, "hi")
            await settled(one, session_id)
            await one.call("agent/session/rename", {"sessionId": session_id, "name": "Talk"})
            fork = await one.call("agent/session/new", {"cwd": str(here.where.folder)})
            await one.call("agent/session/close", {"sessionId": fork["sessionId"]})
            await two.until(lambda f: f.get("params", {}).get("reason") == "closed")
            assert len(events(two)) == before
            told = [(n["reason"], n["sessionId"]) for n in two.notes("agent/sessions/changed")]
            assert told == [
                (n["reason"], n["sessionId"]) for n in one.notes("agent/sessions/changed")
            ]
            assert ("renamed", session_id) in told
            assert await refused(two, "agent/session/detach", {"sessionId": "nobody"}) == (
                "session_not_found"
            )
            await two.call("agent/session/attach", {"sessionId": session_id})
            await prompt(two, session_id, "again")
            await two.until(tells("settled"))


async def test_one_that_shuts_down_ends_nothing_of_the_others() -> None:
    slow = ({"call": "bash", "args": {"command": "sleep 0.6; echo whole"}}, {"text": "Done."})
    with shared(*slow, arguments=["--mode=allowAll"]) as here:
        async with here.attached(named("one")) as one, here.attached(named("two")) as two:
            session_id = await opened(one, here.where)
            await opened(two, here.where)
            await prompt(one, session_id, "go")
            await one.until(
                lambda f: f.get("params", {}).get("event", {}).get("status") == "running"
            )
            waits = one.request("agent/session/wait", {"sessionId": session_id, "for": "settled"})
            assert await one.call("shutdown") is None
            assert (await one.answer(waits))["error"]["code"] in (-32800, -32802)
            one.notify("exit")
            assert await one.exit_code() == 0
            assert (await settled(two, session_id))["lastTurn"]["reason"] == "end_turn"
            shown = [e for e in events(two, "tool") if e["status"] == "completed"]
            assert "whole" in str(shown)
