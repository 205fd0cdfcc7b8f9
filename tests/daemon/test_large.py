"""A session of 100,000 entries through the real daemon: read once, kept small, walked in cheaply.

Times are told beside what plain decoding of the same lines takes in the same run; bytes and memory
are held to limits.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.daemon.real import Place, daemon, opened, place
from tests.history.made import write_large, write_line
from tests.rpc.client import RawClient

from singletree.history.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ENTRIES = 100_000
PATH = 2_000
MIB = 1 << 20
Shape = Literal["tree", "line"]
"""Branches and compactions, with a short path; or one line of turns, all of it the path."""


@dataclass
class Probe:
    """What a process has read and how large it is, by the system's own account."""

    pid: int

    def read(self) -> int:
        """Bytes read so far, from files and pipes."""
        return self._figure("io", "rchar")

    def resident(self) -> int:
        """Bytes of memory."""
        return self._figure("status", "VmRSS") * 1024

    def _figure(self, file: str, name: str) -> int:
        for line in Path(f"/proc/{self.pid}/{file}").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        raise AssertionError(f"the system does not tell {name}")


@dataclass
class Measured:
    """One request: how long it took, how much was read for it."""

    answer: Any
    seconds: float
    read: int


class Large:
    """A daemon with everything loaded, and a large session that it has not opened yet."""

    def __init__(self, client: RawClient, probe: Probe, path: Path, ids: list[str]) -> None:
        self.client = client
        self.probe = probe
        self.path = path
        self.ids = ids

    async def ask(self, method: str, **params: Any) -> Measured:
        before, began = self.probe.read(), time.perf_counter()
        answer = await self.client.call(f"agent/{method}", params, 120)
        return Measured(answer, time.perf_counter() - began, self.probe.read() - before)


@asynccontextmanager
async def large(where: Place, shape: Shape, entries: int = ENTRIES) -> AsyncIterator[Large]:
    path = Store(where.agent_dir).folder(str(where.folder)) / "large.jsonl"
    path.parent.mkdir(parents=True)
    if shape == "tree":
        ids = write_large(path, entries, path_length=PATH)
    else:
        ids = write_line(path, entries)
    os.utime(path, (1, 1))
    async with daemon(where, {"text": "hello"}) as client:
        assert client.process is not None
        await opened(client, where, start="new")
        await client.call("agent/context/get", {})
        await client.call("agent/tree/get", {})
        yield Large(client, Probe(client.process.pid), path, ids)


def decoding(path: Path, *, keeping: bool) -> float:
    """Seconds that `json.loads` takes over the lines: kept as a program needs them, or let go."""
    began = time.perf_counter()
    with path.open("rb") as file:
        _ = list(map(json.loads, file)) if keeping else deque(map(json.loads, file), maxlen=0)
    return time.perf_counter() - began


@pytest.mark.parametrize("shape", ["tree", "line"])
async def test_it_is_opened_by_reading_it_once(tmp_path: Path, shape: Shape) -> None:
    where = place(tmp_path)
    async with large(where, shape) as on:
        size = on.path.stat().st_size
        assert size > 75 * MIB
        before = on.probe.resident()
        made = await on.ask("session/open", sessionId="s1", cwd=str(where.folder))
        grown = on.probe.resident() - before
        kept, dropped = (decoding(on.path, keeping=keeping) for keeping in (True, False))
        print(
            f"opening {ENTRIES:,} entries ({size / MIB:.0f} MiB) takes {made.seconds:.2f} s, "
            f"decoding their lines {kept:.2f} s: 1/{kept / made.seconds:.1f}, "
            f"keeping none of them {dropped:.2f} s: 1/{dropped / made.seconds:.1f}; "
            f"{grown / MIB:.0f} MiB more, {made.read / size:.2f} of the file read"
        )
        state = made.answer["state"]
        assert state["counts"]["entries"] == ENTRIES
        assert [e["id"] for e in made.answer["history"]["entries"]] == on.ids[-100:]
        assert grown < 60 * MIB
        assert made.read < 1.15 * size
        assert on.path.stat().st_size == size


async def test_a_path_that_is_the_whole_file_is_read_for_its_context_alone(tmp_path: Path) -> None:
    """All of it counts: it is read once for that, and for nothing that is smaller."""
    where = place(tmp_path)
    entries = ENTRIES // 2
    async with large(where, "line", entries) as on:
        size = on.path.stat().st_size
        await on.ask("session/open", sessionId="s1", cwd=str(where.folder))
        which = {"sessionId": "s1"}
        small = {
            "state": await on.ask("session/state", **which),
            "rows around the leaf": await on.ask("tree/get", **which, around=on.ids[-1]),
            "navigate": await on.ask("tree/navigate", **which, entryId=on.ids[entries // 2]),
            "there": await on.ask("session/state", **which),
            "back": await on.ask("tree/navigate", **which, entryId=on.ids[-1]),
        }
        context = await on.ask("context/get", **which)
        print(f"a context of {entries:,} messages: {context.seconds:.1f} s")
        assert {name: one.read for name, one in small.items() if one.read > size // 20} == {}
        assert context.answer["seen"] >= entries
        assert context.read < 1.15 * size


async def test_walking_in_it_does_not_read_it_again(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with large(where, "tree") as on:
        size = on.path.stat().st_size
        await on.ask("session/open", sessionId="s1", cwd=str(where.folder))
        which = {"sessionId": "s1"}
        leaf, far = on.ids[-1], on.ids[ENTRIES // 2]
        told = {
            "rows around the leaf": await on.ask("tree/get", **which, around=leaf, limit=200),
            "page before": await on.ask("session/entries", **which, before=on.ids[-500], limit=100),
            "context": await on.ask("context/get", **which),
            "context elsewhere": await on.ask("context/get", **which, entryId=far),
            "fork": await on.ask("session/fork", **which, entryId=leaf, position="at"),
            "navigate": await on.ask("tree/navigate", **which, entryId=far),
            "state": await on.ask("session/state", **which),
            "back": await on.ask("tree/navigate", **which, entryId=leaf),
            "label": await on.ask("tree/label", **which, entryId=far, label="far"),
        }
        for name, one in told.items():
            print(f"{name}: {one.seconds * 1000:.0f} ms, {one.read / MIB:.2f} MiB read")
        assert {name: one.read for name, one in told.items() if one.read > size // 20} == {}
        assert told["context"].answer["entryId"] == leaf
        assert told["navigate"].answer["leafId"] in (far, on.ids[ENTRIES // 2 - 1])
        assert told["state"].answer["counts"]["messages"] < 2 * 667
        forked = Store(where.agent_dir).open_id(told["fork"].answer["sessionId"], read_only=True)
        assert PATH <= forked.entry_count < PATH + 100
        forked.close()
        added = on.path.stat().st_size - size
        assert 0 < added < 1000
