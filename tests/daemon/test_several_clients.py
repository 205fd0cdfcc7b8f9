"""Several clients of one session: all are asked, the first answer counts, the rest are told."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.daemon.real import allow, events, opened, place, prompt, settled, tells
from tests.daemon.several import house
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

PERMISSION = "agent/permission/request"
ONE: object = {"permissions": {}, "clientId": "one"}
TWO: object = {"permissions": {}, "clientId": "two"}
WRITE = (
    {"call": "write", "args": {"path": "one.txt", "content": "1"}},
    {"text": "First."},
    {"loop": True},
)


async def test_the_first_answer_counts_and_the_others_are_told(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, *WRITE) as join, join(ONE) as one, join(TWO) as two:
        session_id = await opened(one, where)
        assert await opened(two, where) == session_id
        await prompt(one, session_id, "write")
        await one.until(lambda f: f.get("method") == PERMISSION)
        asked = await two.until(lambda f: f.get("method") == PERMISSION)
        two.send({"jsonrpc": "2.0", "id": asked["id"], **allow(asked["params"])})
        await settled(one, session_id)
        told = {"requestId": asked["params"]["requestId"], "by": "two"}
        assert [told | {"sessionId": session_id}] == one.notes("agent/request/resolved")
        assert two.notes("agent/request/resolved") == []
        assert (where.folder / "one.txt").exists()
        last = await one.until(tells("settled"))
        await two.until(lambda f: f.get("params") == last["params"])
        assert events(one) == events(two)


async def test_one_that_does_not_understand_leaves_it_to_the_others(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, *WRITE) as join, join(ONE) as one, join(TWO) as two:
        one.reactions[PERMISSION] = lambda params: {"result": None}
        two.reactions.pop(PERMISSION, None)
        session_id = await opened(one, where)
        await opened(two, where)
        for turn in range(2):
            await prompt(two, session_id, "write")
            await two.until(partial(_more, two, turn))
            if turn == 0:
                await one.until(lambda f: f.get("method") == PERMISSION)
                await asyncio.sleep(0.5)  # its answer is in before the other one's
            asked = [f for f in two.frames if f.get("method") == PERMISSION][-1]
            two.send({"jsonrpc": "2.0", "id": asked["id"], **allow(asked["params"])})
            assert (await settled(two, session_id))["lastTurn"]["reason"] == "end_turn"
        assert [e["status"] for e in events(one, "permission")] == ["open", "allowed"] * 2
        assert len(one.notes(PERMISSION)) == 1


async def test_one_who_comes_later_is_asked_too(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, *WRITE) as join, join(ONE) as one, join(TWO) as two:
        session_id = await opened(one, where)
        await prompt(one, session_id, "write")
        asked = await one.until(lambda f: f.get("method") == PERMISSION)
        two.reactions[PERMISSION] = allow
        attached = await two.call("agent/session/attach", {"sessionId": session_id})
        assert attached["pending"][0]["params"] == asked["params"]
        await settled(one, session_id)
        assert (where.folder / "one.txt").exists()
        assert one.notes("agent/request/resolved")[0]["by"] == "two"


async def test_one_who_goes_while_asked_is_a_no(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with house(where, *WRITE) as join, join(TWO) as two:
        async with join(ONE) as one:
            session_id = await opened(one, where)
            await prompt(one, session_id, "write")
            await one.until(lambda f: f.get("method") == PERMISSION)
        last = await settled(two, session_id)
        assert last["lastTurn"]["reason"] == "end_turn"
        page = await two.call("agent/session/entries", {"sessionId": session_id})
        results = [e["message"] for e in page["entries"] if e["type"] == "message"]
        assert [m["isError"] for m in results if m["role"] == "toolResult"] == [True]
        assert not (where.folder / "one.txt").exists()


def _more(client: RawClient, seen: int, frame: object) -> bool:
    """Whether it was asked once more."""
    return len(client.notes(PERMISSION)) > seen
