"""The sessions of a process: what happens to one does not happen to another."""

from __future__ import annotations

import gc
import json
import shutil
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from tests.history.made import files_no_larger_than, write_large

from singletree.errors import SessionError
from singletree.history.entries import MessageEntry
from singletree.history.recovery import read_header
from singletree.history.store import Store
from singletree.host.host import LARGE, Host
from singletree.host.look import Nobody
from singletree.host.options import Options
from singletree.messages import AssistantMessage, Text, ToolResultMessage
from singletree.session.turn.partials import write_partial


def no_folder(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("no folder")


async def test_a_session_that_cannot_be_saved_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work, agent_dir = tmp_path / "work", tmp_path / "agent"
    work.mkdir()
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {}, model="offline/demo"), Nobody(), tasks)
        one = await host.open(work, "new")
        other = await host.open(work, "new")
        for session in (one, other):
            await session.turns.prompt([Text(text="hi")])
            await session.turns.wait()
        await one.turns.steer([Text(text="later")], when_idle="queue")
        await anyio.to_thread.run_sync(no_folder, agent_dir / "singletree" / "queues")
        await host.close_all()
        assert host.live == ()
    assert [record.levelname for record in caplog.records if one.id in record.getMessage()] == [
        "ERROR"
    ]
    for session in (one, other):
        again = await anyio.to_thread.run_sync(Store(agent_dir).open_id, session.id)
        assert not again.read_only
        await anyio.to_thread.run_sync(again.close)


async def test_an_opening_that_fails_leaves_no_extension_behind(tmp_path: Path) -> None:
    """There is no room for the answer that a crash cut off."""
    work, agent_dir = tmp_path / "work", tmp_path / "agent"
    for folder in (work / ".pi", agent_dir):
        extensions = folder / "extensions"
        extensions.mkdir(parents=True)
        (extensions / "mine.py").write_text("def setup(singletree):\n    pass\n")
    async with anyio.create_task_group() as tasks:
        options = Options(agent_dir, {}, model="offline/demo", trust=True)
        host = Host(options, Nobody(), tasks)
        session = await host.open(work, "new")
        await session.turns.prompt([Text(text="hi")])
        await session.turns.wait()
        await host.close_all()
        partial = agent_dir / "singletree/partials" / f"{session.id}.json"
        answer = AssistantMessage(content=[Text(text="half")])
        await anyio.to_thread.run_sync(write_partial, partial, "feed0001", answer)
        before = set(sys.modules)
        with (
            files_no_larger_than(session.history.file.stat().st_size),
            pytest.raises(SessionError, match="could not be written"),
        ):
            await host.open(work)
        assert set(sys.modules) == before
        session = await host.open(work)
        assert session.history.entry("feed0001")
        assert len(set(sys.modules) - before) == 2
        await host.close_all()


async def test_where_the_locks_were_removed_a_session_is_closed_before_it_is_open_again(
    tmp_path: Path,
) -> None:
    work, agent_dir, script = tmp_path / "work", tmp_path / "agent", tmp_path / "script"
    work.mkdir()
    stubborn = {"command": "trap '' TERM; echo > begun; while :; do sleep 1; done"}
    script.write_text(json.dumps({"call": "bash", "args": stubborn}))
    async with anyio.create_task_group() as tasks:
        host = Host(
            Options(agent_dir, {}, model=f"scripted:{script}", mode="allowAll"), Nobody(), tasks
        )
        one = await host.open(work, "new")
        await one.turns.prompt([Text(text="hi")])
        while not await anyio.Path(work, "begun").exists():  # noqa: ASYNC110  # nobody tells
            await anyio.sleep(0.02)
        await anyio.to_thread.run_sync(shutil.rmtree, agent_dir / "singletree" / "locks")
        tasks.start_soon(host.close, one)
        await anyio.lowlevel.checkpoint()
        again = await host.open(work, session_id=one.id)
        assert again.history.damage == one.history.damage == ()
        (*_, last) = again.history.path()
        assert isinstance(last, MessageEntry) and isinstance(last.message, ToolResultMessage)
        await host.close_all()


async def test_a_session_is_listed_before_anything_is_said_in_it(tmp_path: Path) -> None:
    work, agent_dir = tmp_path / "work", tmp_path / "agent"
    work.mkdir()
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {}, model="offline/demo"), Nobody(), tasks)

        async def listed(query: str | None = None, limit: int = 9) -> list[str]:
            page, found = await host.list(work, query=query, limit=limit, cursor=None), []
            while True:
                found += [one.id for one in page.sessions]
                if page.next is None:
                    return found
                page = await host.list(work, query=query, limit=limit, cursor=page.next)

        spoken, named = await host.open(work, "new"), await host.open(work, "new")
        await spoken.turns.prompt([Text(text="hi")])
        await spoken.turns.wait()
        named.rename("My plan")
        other, last = await host.open(work, "new"), await host.open(work, "new")
        for limit in (1, 2, 9):
            assert await listed(limit=limit) == [last.id, named.id, spoken.id]
        assert await listed("plan") == [named.id]
        assert await host.open(work, session_id=other.id) is other
        assert await listed() == [other.id, named.id, spoken.id]
        await host.close_all()
        assert await listed() == [spoken.id]


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nobody but the host calls it."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
async def test_a_large_session_that_is_closed_leaves_memory(tmp_path: Path) -> None:
    agent_dir = tmp_path / "agent"
    path = Store(agent_dir).folder("/w") / "large.jsonl"
    path.parent.mkdir(parents=True)
    write_large(path, LARGE, text=10)
    async with anyio.create_task_group() as tasks:
        host = Host(Options(agent_dir, {}, model="offline/demo"), Nobody(), tasks)
        session = await host.open(tmp_path, session_id=read_header(path).id)
        there = weakref.ref(session)
        await host.close(session)
        del session
    assert there() is None
