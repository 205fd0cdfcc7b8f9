"""One session in two programs: what one has written the other tells the same, and goes on with."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import needs
from tests.daemon.real import daemon, opened, prompt, settled
from tests.history.made import ANSWER, WHEN, write
from tests.interop.agree import View, view_of_ours, view_of_pi
from tests.interop.conftest import Ground
from tests.interop.install import NEEDS, found
from tests.interop.pi import Pi, running
from tests.rpc.client import RawClient

from singletree.history.store import Store

pytestmark = [pytest.mark.client, pytest.mark.timeout(90), needs(NEEDS, found() is not None)]


class Ours:
    """The daemon with its session open."""

    def __init__(self, client: RawClient, session_id: str, agent_dir: Path) -> None:
        self.client = client
        self.session_id = session_id
        self._agent_dir = agent_dir

    async def call(self, method: str, **params: Any) -> Any:
        return await self.client.call(method, {"sessionId": self.session_id, **params})

    async def say(self, words: str) -> None:
        await prompt(self.client, self.session_id, words)
        ended = await settled(self.client, self.session_id)
        assert ended["lastTurn"]["reason"] == "end_turn"

    async def walk(self, to: str, **options: Any) -> None:
        await self.call("agent/tree/navigate", entryId=to, **options)

    async def mark(self, entry: str, label: str | None) -> None:
        await self.call("agent/tree/label", entryId=entry, label=label)

    async def view(self) -> View:
        return await view_of_ours(self.client, self.session_id, self._agent_dir)


@asynccontextmanager
async def ours(ground: Ground, **which: str) -> AsyncIterator[Ours]:
    async with daemon(ground.where, model="local/fake") as client:
        session_id = await opened(client, ground.where, **which)
        yield Ours(client, session_id, ground.where.agent_dir)
        await client.call("shutdown")
        client.notify("exit")
        assert await client.exit_code() == 0


@asynccontextmanager
async def theirs(ground: Ground, session: Path | None = None) -> AsyncIterator[Pi]:
    async with running(ground.pi, ground.where.agent_dir, ground.where.folder, session) as pi:
        yield pi
        assert [r for r in pi.records if r["type"] == "extension_error"] == []


def the_file(ground: Ground) -> Path:
    """The only session there is."""
    (path,) = ground.where.agent_dir.glob("sessions/*/*.jsonl")
    return path


def users(view: View) -> list[str]:
    """Ids of what was said by the user, in file order."""
    said = [e for e in view.entries if e["type"] == "message"]
    return [e["id"] for e in said if e["message"]["role"] == "user"]


def kinds(view: View) -> set[str]:
    return {entry["type"] for entry in view.entries}


async def converse(program: Ours | Pi, view: View | None = None) -> None:
    """Everything a session can hold: calls, a label, a branch with a summary, a compaction."""
    for words in ("one", "read a.txt", "three"):
        await program.say(words)
    told = await (view_of_pi(program) if isinstance(program, Pi) else program.view())
    said = users(told)[-3:]
    await program.mark(said[0], "start")
    await program.mark(said[1], "not for long")
    await program.mark(said[1], None)
    await program.walk(said[1], summarize=True, label="left it")
    await program.say("another way")
    await program.call("compact" if isinstance(program, Pi) else "agent/compact")
    await program.say("after the compaction")


def same(one: View, other: View) -> None:
    """Part by part, so that a difference names itself."""
    assert one.leaf == other.leaf
    assert one.entries == other.entries
    assert one.children == other.children
    assert one.labels == other.labels
    assert one.name == other.name
    assert one.messages == other.messages


async def test_a_session_written_here_is_the_same_in_pi(ground: Ground) -> None:
    async with ours(ground) as here:
        await converse(here)
        await here.call("agent/session/rename", name="between two")
        before = await here.view()
        out = await here.call("agent/session/export", format="jsonl", path="out.jsonl")
        await here.walk(users(before)[1])
        moved = await here.view()
    assert kinds(moved) >= {"message", "label", "branch_summary", "compaction", "session_info"}
    assert moved.leaf is not None
    assert moved.leaf not in (before.leaf, before.entries[-1]["id"])
    async with theirs(ground, Path(out["path"])) as pi:
        exported = await view_of_pi(pi)
        assert (exported.messages, exported.name) == (before.messages, before.name)
    path = the_file(ground)
    written = path.read_bytes()
    async with theirs(ground, path) as pi:
        same(await view_of_pi(pi), moved)
        assert path.read_bytes() == written
        await pi.walk(users(moved)[-1])
        await pi.say("pi goes on")
        added = await view_of_pi(pi)
    assert path.read_bytes().startswith(written)
    async with ours(ground) as here:
        same(added, await here.view())
        await here.say("and here again")
        await here.walk(users(added)[1])
        last = await here.view()
    async with theirs(ground, path) as pi:
        same(await view_of_pi(pi), last)


async def test_a_session_written_by_pi_is_the_same_here(ground: Ground) -> None:
    async with theirs(ground) as pi:
        await converse(pi)
        await pi.call("set_session_name", name="between two")
        written = await view_of_pi(pi)
    path = the_file(ground)
    bytes_written = path.read_bytes()
    async with ours(ground) as here:
        assert the_file(ground) == path
        same(written, await here.view())
        assert path.read_bytes() == bytes_written
        await converse(here)
        added = await here.view()
    assert path.read_bytes().startswith(bytes_written)
    async with theirs(ground, path) as pi:
        same(await view_of_pi(pi), added)
        await converse(pi)
        more = await view_of_pi(pi)
    async with ours(ground) as here:
        same(more, await here.view())


async def test_pi_begins_at_the_first_message_where_we_left_it(ground: Ground) -> None:
    """Before the first entry is a place as well; the mark says so, and pi lands there."""
    async with ours(ground) as here:
        await here.say("one")
        first = (await here.view()).entries[0]["id"]
    path = the_file(ground)
    history = Store(ground.where.agent_dir).open(path)
    history.move(None)
    history.close()
    async with theirs(ground, path) as pi:
        at_start = await view_of_pi(pi)
        assert at_start.messages == []
        await pi.say("another beginning")
        written = await view_of_pi(pi)
    assert len(written.children[""]) == 2
    assert written.children[""][0] == first
    async with ours(ground) as here:
        same(written, await here.view())


async def test_each_notices_what_the_other_adds_meanwhile(ground: Ground) -> None:
    """Two open at once are no way to work; still nothing is lost, and all of it is told here."""
    async with ours(ground) as here:
        await here.say("one")
        path = the_file(ground)
        async with theirs(ground, path) as pi:
            await pi.say("pi between")
            await here.say("two")
            warned = [n["event"] for n in here.client.notes("agent/event")]
            assert "foreign_writer" in [e["code"] for e in warned if e["type"] == "warning"]
        seen = await here.view()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [e["id"] for e in seen.entries] == [e["id"] for e in lines[1:]]
    async with theirs(ground, path) as pi:
        same(await view_of_pi(pi), seen)
    assert len(users(seen)) == 3


@pytest.mark.parametrize("version", [1, 2])
async def test_an_older_file_reads_the_same(ground: Ground, version: int) -> None:
    """pi brings an old file up to date in place, we in a copy: the conversation is one."""
    path = old_file(ground, version)
    bytes_written = path.read_bytes()
    async with ours(ground, sessionId="old") as here:
        view = await here.view()
        await here.say("and on")
        added = await here.view()
        copy = Path((await here.call("agent/session/state"))["path"])
        assert path.read_bytes() == bytes_written
    assert copy != path
    async with theirs(ground, copy) as pi:
        same(await view_of_pi(pi), added)
    async with theirs(ground, path) as pi:
        migrated = await view_of_pi(pi)
    assert view.messages == migrated.messages
    types = [entry["type"] for entry in migrated.entries]
    assert [entry["type"] for entry in view.entries] == types[: len(view.entries)]
    assert set(types[len(view.entries) :]) <= {"model_change", "thinking_level_change"}


def old_file(ground: Ground, version: int) -> Path:
    """A session as pi once wrote it: version 1 had no ids, version 2 another name for a role."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "id": "old", "timestamp": WHEN, "cwd": str(ground.where.folder)},
        _said("user", [{"type": "text", "text": "one"}]),
        _said("assistant", [{"type": "text", "text": "first answer"}], **ANSWER, stopReason="stop"),
        _said("hookMessage", "from a hook", customType="hook", display=True),
        _said("user", "two"),
        _said("assistant", [{"type": "text", "text": "second"}], **ANSWER, stopReason="stop"),
        {"type": "compaction", "timestamp": WHEN, "summary": "it was short", "tokensBefore": 99},
        _said("user", "three"),
    ]
    if version == 1:
        lines[6]["firstKeptEntryIndex"] = 4
    else:
        lines[0]["version"] = version
        for number, line in enumerate(lines[1:], 1):
            line["id"] = f"0000000{number}"
            line["parentId"] = f"0000000{number - 1}" if number > 1 else None
        lines[6]["firstKeptEntryId"] = "00000004"
    folder = Store(ground.where.agent_dir).folder(str(ground.where.folder))
    return write(folder / "2026-01-05T08-00-00-000Z_old.jsonl", lines)


def _said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "timestamp": 1767600000000, **more}
    return {"type": "message", "timestamp": WHEN, "message": message}
