"""Clients and sessions that have gone leave nothing behind in a daemon that lives on."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from tests.daemon.real import Place, opened, place, prompt, settled
from tests.daemon.several import Join, house
from tests.rpc.editor import until

from singletree.rpc.buffers.documents import Documents
from singletree.rpc.connection import Connection
from singletree.rpc.pipes.outbox import Outbox
from singletree.rpc.stream import Stream
from singletree.session.session import AgentSession
from singletree.session.wiring import Wiring

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

OURS = (AgentSession, Wiring, Stream, Connection, Outbox, Documents)
TURNS = (
    {"call": "read", "args": {"path": "f"}},
    {"text": "Read."},
    {"loop": True},
)


def kept() -> Counter[str]:
    """How many objects of these kinds there are."""
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, OURS))


def held() -> tuple[int, int]:
    """Descriptors and threads of this process."""
    return len(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208


def more(objects: Counter[str], before: tuple[int, int]) -> list[str]:
    """What there is more of than one client may need."""
    files, threads = held()
    found = [kind for kind, count in kept().items() if count > objects[kind] + 1]
    found += ["descriptors"] if files > before[0] + 5 else []
    return found + (["threads"] if threads > before[1] + 5 else [])


async def visit(join: Join, where: Place, number: int) -> None:
    """A client comes, talks in a session of its own, and either closes it or just goes."""
    async with join({"clientId": f"c{number}", "permissions": {}}) as client:
        session_id = await opened(client, where, start="new")
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        await client.call("agent/session/close", {"sessionId": session_id})


async def test_b100_clients_and_sessions_leave_nothing_behind(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "f").write_text("one\n")
    async with house(where, *TURNS) as join, join({"clientId": "stays"}) as stays:
        await opened(stays, where)
        for number in range(3):  # what is loaded once is loaded
            await visit(join, where, number)
        objects, before = kept(), held()
        assert objects["AgentSession"] == 1
        for number in range(12):
            await visit(join, where, number)
        with suppress(TimeoutError):  # the last clients may still be on their way out
            await until(lambda: not more(objects, before), 20)
        assert not more(objects, before)
