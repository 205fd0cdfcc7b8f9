"""A daemon that does nothing uses nothing, and one that is used for long does not grow."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.daemon.real import opened, prompt, settled
from tests.daemon.shared import Shared, kill, shared
from tests.rpc.client import RawClient
from tests.rpc.editor import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TURNS = (
    {"call": "read", "args": {"path": "f"}},
    {"text": "Read, and here are some words about it. " * 5},
    {"loop": True},
)
IDLE_SECONDS = 60
WAKES_A_SECOND = 1
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Use:
    """What a process uses: memory, descriptors, threads, inotify watches, CPU time, wake-ups."""

    rss: int
    descriptors: int
    threads: int
    watches: int
    cpu: float
    wakes: int


def use(pid: int) -> Use:
    proc = Path(f"/proc/{pid}")
    fields = (proc / "stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    tasks = list((proc / "task").iterdir())
    infos = [path.read_text() for path in (proc / "fdinfo").iterdir()]
    return Use(
        int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        len(infos),
        len(tasks),
        sum(info.count("inotify wd:") for info in infos),
        (int(fields[11]) + int(fields[12])) / ticks,
        sum(_wakes(task) for task in tasks),
    )


def _wakes(task: Path) -> int:
    """How often a thread has waited for something and gone on."""
    line = next(x for x in (task / "status").read_text().splitlines() if x.startswith("voluntary"))
    return int(line.split()[1])


async def turns(client: RawClient, session_id: str, count: int) -> None:
    for _ in range(count):
        await prompt(client, session_id, "go")
        await settled(client, session_id, 60)


async def all_loaded(here: Shared) -> None:
    """What the daemon loads in its first quiet moments is not what it grows by."""
    await until(lambda: "is loaded" in here.log, 60)


def transcripts(here: Shared) -> int:
    return sum(path.stat().st_size for path in here.where.agent_dir.glob("sessions/*/*.jsonl"))


async def test_b100_idle_after_twenty_turns() -> None:
    with shared(*TURNS) as here:
        here.env = {"SINGLETREE_LOG": "info"}
        (here.where.folder / "f").write_text("one\n")
        async with here.attached() as client:
            session_id = await opened(client, here.where)
            await turns(client, session_id, 20)
            await all_loaded(here)
            await asyncio.sleep(2)
            pid = here.daemon.pid
            assert client.process is not None
            before, bridge = use(pid), use(client.process.pid)
            await asyncio.sleep(IDLE_SECONDS)
            after, still = use(pid), use(client.process.pid)
            print(
                f"{IDLE_SECONDS} s idle: daemon {after.cpu - before.cpu:.2f} s CPU,"
                f" {after.wakes - before.wakes} wake-ups; bridge {still.cpu - bridge.cpu:.2f} s,"
                f" {still.wakes - bridge.wakes} wake-ups; {after.rss / MEGABYTE:.0f} and"
                f" {still.rss / MEGABYTE:.0f} MB"
            )
            assert after.wakes - before.wakes <= IDLE_SECONDS * WAKES_A_SECOND
            assert still.wakes - bridge.wakes <= 5
            assert after.threads == before.threads
            kill(pid, signal.SIGTERM)
            await client.exit_code(30)


async def test_b100_two_hundred_turns_and_fifty_sessions() -> None:
    with shared(*TURNS) as here:
        here.env = {"SINGLETREE_LOG": "info"}
        (here.where.folder / "f").write_text("one\n")
        async with here.attached() as client:
            session_id = await opened(client, here.where)
            await turns(client, session_id, 20)
            await all_loaded(here)
            pid = here.daemon.pid
            begun, written = use(pid), transcripts(here)
            await turns(client, session_id, 200)
            talked, grown = use(pid), transcripts(here) - written
            for _ in range(50):
                other = await opened(client, here.where, start="new")
                await client.call("agent/session/close", {"sessionId": other})
            ended = use(pid)
            print(
                f"200 turns: {(talked.rss - begun.rss) / MEGABYTE:.1f} MB more, transcript"
                f" {grown / MEGABYTE:.1f} MB, {talked.cpu - begun.cpu:.1f} s CPU; 50 sessions"
                f" opened and closed: {(ended.rss - talked.rss) / MEGABYTE:.1f} MB more"
            )
            assert ended.rss - begun.rss - grown <= 40 * MEGABYTE
            for now in (talked, ended):
                assert now.descriptors <= begun.descriptors + 5
                assert now.threads <= begun.threads + 5
                assert now.watches <= begun.watches + 5
