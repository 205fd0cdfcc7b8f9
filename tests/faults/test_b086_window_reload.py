"""A window reloads, with a daemon of its own or a shared one: the conversation is true to life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import HELLO, Place, daemon, opened, place, prompt, settled
from tests.daemon.shared import shared
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

TALK = ({"text": "A long answer. " * 200, "chunk": 15, "pause": 0.01}, {"loop": True})
TOOL = (
    {"call": "bash", "args": {"command": "echo begun; sleep 2; echo ended"}},
    {"text": "Done."},
    {"loop": True},
)
WRITE = (
    {"call": "write", "args": {"path": "f", "content": "1"}},
    {"text": "Done."},
    {"loop": True},
)
PERMISSION = "agent/permission/request"

Window = Callable[[], AbstractAsyncContextManager[RawClient]]


@asynccontextmanager
async def own(tmp_path: Path, *turns: object, mode: str) -> AsyncIterator[tuple[Place, Window]]:
    """Windows with a daemon each."""
    where = place(tmp_path)
    yield where, lambda: daemon(where, *turns, arguments=[f"--mode={mode}"])


@asynccontextmanager
async def common(tmp_path: Path, *turns: object, mode: str) -> AsyncIterator[tuple[Place, Window]]:
    """Windows with one daemon."""
    with shared(*turns, arguments=[f"--mode={mode}"]) as here:
        yield here.where, lambda: here.attached(HELLO)


async def vanish(client: RawClient) -> None:
    """The window is gone, and with it its end of the pipes."""
    await client.eof()


async def again(window: RawClient, where: Place) -> Any:
    """The conversation as the window finds it after the reload."""
    return await window.call("agent/session/open", {"cwd": str(where.folder)}, 30)


def said(found: Any) -> list[str]:
    """Who spoke, in order."""
    records = found["history"]["entries"]
    return [one["message"]["role"] for one in records if one["type"] == "message"]


async def test_b086_in_an_answer_with_a_daemon_of_its_own(tmp_path: Path) -> None:
    async with own(tmp_path, *TALK, mode="ask") as (where, window):
        async with window() as before:
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            await asyncio.sleep(0.05)
            await vanish(before)
            async with window() as after:
                found = await again(after, where)
        assert (found["sessionId"], found["state"]["phase"]) == (session_id, "idle")
        assert said(found)[0] == "user"
        assert found["inFlight"] == []


async def test_b086_in_an_answer_of_the_shared_daemon(tmp_path: Path) -> None:
    async with common(tmp_path, *TALK, mode="ask") as (where, window):
        async with window() as before:
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            await asyncio.sleep(0.05)
            await vanish(before)
        async with window() as after:
            found = await again(after, where)
            assert (found["sessionId"], found["state"]["phase"]) == (session_id, "running")
            assert said(found) == ["user"]
            assert (await settled(after, session_id, 30))["lastTurn"]["reason"] == "end_turn"


async def test_b086_in_a_tool_with_a_daemon_of_its_own(tmp_path: Path) -> None:
    async with own(tmp_path, *TOOL, mode="allowAll") as (where, window):
        async with window() as before:
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            await before.until(lambda f: f.get("params", {}).get("kind") == "toolOutput")
            await vanish(before)
            async with window() as after:
                found = await again(after, where)
        assert (found["sessionId"], found["state"]["phase"]) == (session_id, "idle")
        assert said(found) == ["user", "assistant", "toolResult"]


async def test_b086_in_a_tool_of_the_shared_daemon(tmp_path: Path) -> None:
    async with common(tmp_path, *TOOL, mode="allowAll") as (where, window):
        async with window() as before:
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            await before.until(lambda f: f.get("params", {}).get("kind") == "toolOutput")
            await vanish(before)
        async with window() as after:
            found = await again(after, where)
            assert [one["status"] for one in found["tools"]] == ["running"]
            await settled(after, session_id, 30)
            whole = await again(after, where)
            assert said(whole) == ["user", "assistant", "toolResult", "assistant"]
            assert "ended" in str(whole["history"]["entries"])


async def test_b086_while_asked_with_a_daemon_of_its_own(tmp_path: Path) -> None:
    async with own(tmp_path, *WRITE, mode="ask") as (where, window):
        async with window() as before:
            before.reactions.pop(PERMISSION)
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            await before.until(lambda f: f.get("method") == PERMISSION)
            await vanish(before)
            async with window() as after:
                found = await again(after, where)
        assert (found["sessionId"], found["pending"]) == (session_id, [])
        assert said(found) == ["user", "assistant", "toolResult"]
        assert not (where.folder / "f").exists()


async def test_b086_while_asked_by_the_shared_daemon(tmp_path: Path) -> None:
    async with common(tmp_path, *WRITE, mode="ask") as (where, window):
        async with window() as before:
            session_id = await opened(before, where)
            await prompt(before, session_id, "go")
            asked = await before.until(lambda f: f.get("method") == PERMISSION)
            await vanish(before)
        async with window() as after:
            found = await again(after, where)
            assert [one["params"] for one in found["pending"]] == [asked["params"]]
            once_more = await after.until(lambda f: f.get("method") == PERMISSION)
            option = next(o for o in once_more["params"]["options"] if o["kind"] == "allow")
            chosen = {"outcome": "selected", "optionId": option["id"]}
            after.send({"jsonrpc": "2.0", "id": once_more["id"], "result": chosen})
            assert (await settled(after, session_id))["lastTurn"]["reason"] == "end_turn"
        assert (where.folder / "f").exists()
