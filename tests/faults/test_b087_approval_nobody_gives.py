"""A question that nobody answers, or twice, or too late, or in another order."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, asked, calls, provided, says
from tests.daemon.real import Place, allow, daemon, events, opened, place, prompt, settled
from tests.daemon.shared import EITHER, Serving
from tests.model.fake_server import Reply, Seen
from tests.rpc.client import Message, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

PERMISSION = "agent/permission/request"
WRITE = ("c1", "write", {"path": "one.txt", "content": "1"})


def answers(*wanted: tuple[str, str, object]) -> Any:
    def answer(seen: Seen) -> Reply:
        return Reply([calls(*wanted) if asked(seen)[-1] == "user: go" else says("done")])

    return answer


async def question(client: RawClient, count: int = 1) -> list[Message]:
    """The questions so far, at least so many."""

    def asked_so_far() -> list[Message]:
        return [f for f in client.frames if f.get("method") == PERMISSION]

    await client.until(lambda f: len(asked_so_far()) >= count, 30)
    return asked_so_far()


def results(where: Place) -> list[tuple[str, bool, str]]:
    """Of each stored result: its call, whether it is an error, what it says."""
    (path,) = where.agent_dir.glob("sessions/*/*")
    messages = [json.loads(line).get("message", {}) for line in path.read_bytes().splitlines()]
    told = [m for m in messages if m.get("role") == "toolResult"]
    return [(m["toolCallId"], m["isError"], m["content"][0]["text"]) for m in told]


@EITHER
async def test_b087_never_answered_then_aborted_then_answered(
    tmp_path: Path, daemon: Serving
) -> None:
    where = place(tmp_path)
    async with provided(where, answers(WRITE)), daemon(where, model=MODEL) as client:
        del client.reactions[PERMISSION]
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        (asked_for,) = await question(client)
        state = await client.call("agent/session/state", {"sessionId": session_id})
        assert state["phase"] == "requires_action"
        assert state["pending"] == [asked_for["params"]["requestId"]]
        begun = time.monotonic()
        assert (await client.call("agent/abort", {"sessionId": session_id}))["aborted"]
        assert time.monotonic() - begun < 2
        cancelled = client.notes("$/cancelRequest")
        assert cancelled == [{"id": asked_for["id"]}]
        client.send({"jsonrpc": "2.0", "id": asked_for["id"], **allow(asked_for["params"])})
        state = await client.call("agent/session/state", {"sessionId": session_id})
        assert (state["phase"], state["pending"]) == ("idle", [])
        ((call, failed, _),) = results(where)
        assert (call, failed) == ("c1", True)
        assert not (where.folder / "one.txt").exists()
        await prompt(client, session_id, "hi")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"


@EITHER
async def test_b087_method_not_found(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    async with provided(where, answers(WRITE)), daemon(where, model=MODEL) as client:
        refuse = {"error": {"code": -32601, "message": "no such method"}}
        client.reactions[PERMISSION] = lambda params: refuse
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        ((_, failed, words),) = results(where)
        assert failed and "permission" in words and "did not run" in words
        assert not (where.folder / "one.txt").exists()


@EITHER
async def test_b087_answered_twice(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    async with provided(where, answers(WRITE)), daemon(where, model=MODEL) as client:
        del client.reactions[PERMISSION]
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        (asked_for,) = await question(client)
        for answer in ({"result": {"outcome": "cancelled"}}, allow(asked_for["params"])):
            client.send({"jsonrpc": "2.0", "id": asked_for["id"], **answer})
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        assert [failed for _, failed, _ in results(where)] == [True]
        assert not (where.folder / "one.txt").exists()
        assert [e["status"] for e in events(client, "permission")] == ["open", "denied"]


@EITHER
async def test_b087_two_at_once_answered_the_other_way_round(
    tmp_path: Path, daemon: Serving
) -> None:
    """One session asks one thing at a time; two sessions ask two."""
    where, other = place(tmp_path), place(tmp_path / "other")
    async with provided(where, answers(WRITE)), daemon(where, model=MODEL) as client:
        del client.reactions[PERMISSION]
        ids = [await opened(client, here) for here in (where, other)]
        for session_id in ids:
            await prompt(client, session_id, "go")
        first, second = sorted(await question(client, 2), key=lambda f: _place_of(f, ids))
        client.send({"jsonrpc": "2.0", "id": second["id"], **allow(second["params"])})
        assert (await settled(client, ids[1]))["lastTurn"]["reason"] == "end_turn"
        client.send({"jsonrpc": "2.0", "id": first["id"], "result": {"outcome": "cancelled"}})
        assert (await settled(client, ids[0]))["lastTurn"]["reason"] == "end_turn"
        assert (other.folder / "one.txt").exists()
        assert not (where.folder / "one.txt").exists()


def _place_of(asked_for: Message, ids: list[str]) -> int:
    return ids.index(asked_for["params"]["sessionId"])


async def test_b087_the_client_dies_while_asked(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with provided(where, answers(WRITE)):
        async with daemon(where, model=MODEL) as client:
            del client.reactions[PERMISSION]
            session_id = await opened(client, where)
            await prompt(client, session_id, "go")
            await question(client)
            await client.eof()
            assert await client.exit_code(10) == 0
        ((call, failed, _),) = results(where)
        assert (call, failed) == ("c1", True)
        assert not (where.folder / "one.txt").exists()
        async with daemon(where, model=MODEL) as client:
            found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
            assert (found["state"]["phase"], found["pending"]) == ("idle", [])
