"""The sessions of a process: what happens to one does not happen to another."""

from __future__ import annotations

import gc
import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.history.made import write_large

from singletree.history.recovery import read_header
from singletree.history.store import Store
from singletree.host.host import LARGE, Host
from singletree.host.look import Nobody
from singletree.host.options import Options
from singletree.messages import Text


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
