"""A daemon's life: several workspaces at once, clients that come back, repeats, and its end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, asked, bash, provided, says
from tests.daemon.real import Place, daemon, events, opened, place, prompt, settled, tells, text
from tests.daemon.several import house
from tests.model.fake_server import Reply, Seen
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HELLO: object = {"permissions": {}, "events": {"maxLatencyMs": 1}}


async def test_several_workspaces_at_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    folders = [place(tmp_path / f"w{n}") for n in range(6)]
    long = "x" * 4000

    def answers(seen: Seen) -> Reply:
        ran = asked(seen)[-1].startswith("tool:")
        return Reply([says(long) if ran else bash("pwd; sleep 0.5")])

    async with (
        provided(where, answers),
        daemon(where, model=MODEL, arguments=("--mode", "allowAll")) as client,
    ):
        ids = [await opened(client, one) for one in folders]
        assert len(set(ids)) == len(ids)
        begun = time.monotonic()
        for session_id in ids:
            await prompt(client, session_id, "go")
        states = [await client.call("agent/session/state", {"sessionId": i}) for i in ids]
        assert [s["cwd"] for s in states] == [str(one.folder) for one in folders]
        for session_id in ids:
            last = (await settled(client, session_id, 60))["lastTurn"]
            assert last["reason"] == "end_turn"
        assert time.monotonic() - begun < 30
        for session_id, one in zip(ids, folders, strict=True):
            told = [n for n in client.notes("agent/event") if n["sessionId"] == session_id]
            assert [n["seq"] for n in told] == list(range(1, len(told) + 1))
            (done,) = [n["event"] for n in told if n["event"].get("status") == "completed"]
            assert done["result"]["content"][0]["text"].strip() == str(one.folder)
            said = [d for d in client.notes("agent/delta") if d["sessionId"] == session_id]
            assert "".join(d["text"] for d in said if d["kind"] == "text") == long


async def test_one_who_comes_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    """What streams is told with the snapshot, and what follows joins on without a hole."""
    where = place(tmp_path)
    whole = "".join(f"{n:07} " for n in range(400))
    turn = {"parts": [{"thinking": "Hm."}, {"text": whole}], "chunk": 8, "pause": 0.005}
    async with house(where, turn) as join, join(HELLO) as one:
        session_id = await opened(one, where)
        await prompt(one, session_id, "go")
        await one.until(lambda f: "delta" in str(f.get("method")) and "0000050" in str(f), 30)
        async with join(HELLO) as two:
            found = await two.call("agent/session/attach", {"sessionId": session_id})
            assert (found["mode"], found["state"]["phase"]) == ("snapshot", "running")
            streams = {one["kind"]: one for one in found["inFlight"]}
            assert streams["text"]["text"] == whole[: 8 * streams["text"]["to"]]
            await settled(two, session_id, 60)
            later = [d for d in two.notes("agent/delta") if d["kind"] == "text"]
            assert later[0]["from"] == streams["text"]["to"]
            assert streams["text"]["text"] + "".join(d["text"] for d in later) == whole
            (seen,) = [f for f in found["history"]["entries"] if f["type"] == "message"]
            assert seen["message"]["role"] == "user"
            assert two.notes("agent/event")[0]["seq"] == found["cursor"]["seq"] + 1


async def test_one_who_comes_back_hears_what_was_missed(tmp_path: Path) -> None:
    where = place(tmp_path)
    turns = [{"text": f"answer {n}"} for n in range(3)]
    async with house(where, *turns) as join, join(HELLO) as stays:
        async with join(HELLO) as one:
            session_id = await opened(one, where)
            await opened(stays, where)
            await prompt(one, session_id, "0")
            await settled(one, session_id)
            cursor = _cursor(one)
        await prompt(stays, session_id, "1")
        await settled(stays, session_id)
        async with join(HELLO) as two:
            back = {"sessionId": session_id, "since": cursor}
            missed = await two.call("agent/session/attach", back)
            assert missed["mode"] == "replay"
            await prompt(stays, session_id, "2")
            await settled(two, session_id)
            last = await two.until(tells("settled"))
            await stays.until(lambda f: f.get("params") == last["params"])
            heard = [*missed["events"], *two.notes("agent/event")]
            told = [n for n in stays.notes("agent/event") if n["seq"] > cursor["seq"]]
            assert heard == told
            for lost in ({"epoch": "another", "seq": 3}, {**cursor, "seq": 10_000}):
                again = await two.call(
                    "agent/session/attach", {"sessionId": session_id, "since": lost}
                )
                assert again["mode"] == "snapshot"
                assert len(again["history"]["entries"]) >= 6


def _cursor(client: RawClient) -> dict[str, Any]:
    last = client.notes("agent/event")[-1]
    return {"epoch": last["epoch"], "seq": last["seq"]}


async def test_the_same_message_again_is_said_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    wait = {"parts": [{"text": "One. "}, {"wait": 0.5}]}
    async with daemon(where, wait, {"text": "Two."}, {"text": "Three."}) as client:
        session_id = await opened(client, where)
        first = {"sessionId": session_id, "content": text("hi"), "clientMessageId": "m1"}
        later = {"sessionId": session_id, "content": text("then"), "clientMessageId": "m2"}
        asked = [client.request("agent/prompt", first) for _ in range(5)]
        answers = [(await client.answer(mid))["result"] for mid in asked]
        assert answers == [answers[0]] * 5
        queued = [await client.call("agent/followUp", later) for _ in range(3)]
        assert queued == [queued[0]] * 3
        await settled(client, session_id)
        assert (await client.call("agent/prompt", first)) == answers[0]
        assert (await client.call("agent/followUp", later)) == queued[0]
        assert len(events(client, "turn_ended")) == 2
        await _said_once(client, session_id, answers[0]["messageId"], queued[0]["messageId"])


async def _said_once(client: RawClient, session_id: str, *ids: str) -> None:
    page = await client.call("agent/session/entries", {"sessionId": session_id})
    users = [e for e in page["entries"] if e.get("message", {}).get("role") == "user"]
    assert [(e["id"], e["message"]["clientMessageId"]) for e in users] == list(
        zip(ids, ("m1", "m2"), strict=True)
    )


async def test_the_same_message_again_after_a_crash_is_said_once(tmp_path: Path) -> None:
    """A client that never heard the answer sends again: what was accepted is not said twice."""
    where = place(tmp_path)
    turns = ({"parts": [{"text": "One. "}, {"wait": 30}]}, {"text": "Two."})
    async with daemon(where, *turns) as client:
        session_id = await opened(client, where)
        first = {"sessionId": session_id, "content": text("hi"), "clientMessageId": "m1"}
        later = {"sessionId": session_id, "content": text("then"), "clientMessageId": "m2"}
        told = await client.call("agent/prompt", first)
        queued = await client.call("agent/followUp", later)
        assert client.process is not None
        client.process.kill()
        await client.process.wait()
    async with daemon(where, {"text": "Two."}) as client:
        await opened(client, where, sessionId=session_id)
        again = await client.call("agent/prompt", first)
        assert again["messageId"] == told["messageId"]
        waits = await client.call("agent/followUp", later)
        assert waits == {name: queued[name] for name in waits}
        assert waits["queueId"] == queued["queueId"]
        assert events(client, "turn_started") == []
        queue = await client.call("agent/queue/list", {"sessionId": session_id})
        assert [item["clientMessageId"] for item in queue["items"]] == ["m2"]


async def _shut_down(client: RawClient, seconds: float) -> None:
    begun = time.monotonic()
    assert await client.call("shutdown", seconds=30) is None
    assert time.monotonic() - begun < seconds
    client.notify("exit")
    assert await client.exit_code() == 0


async def test_shutdown_when_nothing_runs(tmp_path: Path) -> None:
    """Answered within 500 ms; asserted doubled."""
    where = place(tmp_path)
    async with daemon(where, {"text": "x"}) as client:
        for name in ("a", "b", "c"):
            session_id = await opened(client, place(tmp_path / name))
            await prompt(client, session_id, "hi")
            await settled(client, session_id)
        await _shut_down(client, 1)


async def test_shutdown_while_turns_run(tmp_path: Path) -> None:
    """Answered within 2 s; asserted doubled. What ran is saved, what waits comes back."""
    where = place(tmp_path)
    places = [place(tmp_path / name) for name in ("a", "b", "c")]
    sleep = {"text": "I sleep. ", "call": "bash", "args": {"command": "trap '' TERM; sleep 60"}}
    async with daemon(where, sleep, {"loop": True}, arguments=("--mode", "allowAll")) as client:
        ids = [await opened(client, one) for one in places]
        for session_id in ids:
            await prompt(client, session_id, "go")
            await client.call("agent/followUp", {"sessionId": session_id, "content": text("F")})
        async with asyncio.timeout(30):
            while len([e for e in events(client, "tool") if e["status"] == "running"]) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await _shut_down(client, 4)
    async with daemon(where, {"text": "x"}) as client:
        for session_id, one in zip(ids, places, strict=True):
            found = await _open(client, one)
            assert found["sessionId"] == session_id
            assert found["state"]["warnings"] == []
            assert [(i["content"], i["paused"]) for i in found["state"]["queue"]["items"]] == [
                (text("F"), True)
            ]
            roles = [e["message"]["role"] for e in found["history"]["entries"] if "message" in e]
            assert roles == ["user", "assistant", "toolResult"]


async def _open(client: RawClient, where: Place) -> Any:
    return await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)


async def test_what_is_said_before_a_session_is_open_goes_into_that_one(tmp_path: Path) -> None:
    """Sent in one go, without waiting for the answer of what opens it."""
    where = place(tmp_path)
    async with daemon(where, {"loop": True}) as client:
        first = await opened(client, where)
        at = {"cwd": str(where.folder)}
        for method, params in (
            ("agent/session/open", {**at, "start": "new"}),
            ("agent/session/new", at),
            ("agent/session/switch", {"sessionId": first}),
        ):
            asked = client.request(method, params)
            said = client.request("agent/prompt", {"content": method})
            new = (await client.answer(asked))["result"]["sessionId"]
            message = (await client.answer(said))["result"]["messageId"]
            await settled(client, new)
            page = await client.call("agent/session/entries", {"sessionId": new})
            assert message in [entry["id"] for entry in page["entries"]], method
