"""The reception of a shared daemon, in this process: who comes, who goes, and when it ends."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.rpc.client import RawClient, frame

from singletree.host.claim import Claim
from singletree.host.doorbell import holder, knock
from singletree.rpc.connection import Door
from singletree.rpc.doors.life import Life
from singletree.rpc.doors.listen import Reception
from singletree.rpc.routes import Route


class House:
    """A door whose one method answers, and the place where it is open."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.life = Life()
        self.busy = False
        door = Door({"x/ask": Route(None, lambda params, call: 7)}, busy=lambda: self.busy)
        self.reception = Reception(self.life, door, self.claim, lambda: 0.05)
        self.open = asyncio.ensure_future(self.reception.open())

    @asynccontextmanager
    async def client(self, path: Path | None = None) -> AsyncIterator[RawClient]:
        ours = await asyncio.to_thread(knock, path or self.claim.path)
        assert ours is not None
        made = await greeted(ours)
        yield made
        await made.close()

    async def hidden(self) -> None:
        """Wait until nobody finds it any more."""
        async with asyncio.timeout(10):
            while self.claim.path.exists():  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.001)


async def greeted(ours: socket.socket) -> RawClient:
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    made = RawClient(reader, writer)
    await made.initialize()
    return made


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory(prefix="shared-") as root:
        path = Path(root) / "run" / "d.sock"
        made = House(await asyncio.to_thread(Claim.take, path))
        try:
            yield made
        finally:
            made.life.stop(0)
            await asyncio.wait_for(made.open, 10)


async def test_it_ends_a_while_after_the_last_has_gone() -> None:
    async with house() as made:
        async with made.client() as one, made.client() as two:
            there = await asyncio.to_thread(holder, made.claim.path)
            assert there is not None
            assert there.clients == 2
            await one.close()
            await asyncio.sleep(0.2)
            assert await two.call("x/ask") == 7
        assert await asyncio.wait_for(made.life.ended(), 10) == 0
        await made.open
        assert await asyncio.to_thread(holder, made.claim.path) is None
        assert await asyncio.to_thread(knock, made.claim.path) is None


async def test_one_that_goes_on_sending_after_its_goodbye_is_gone() -> None:
    async with house() as made, made.client() as one:
        more = frame({"jsonrpc": "2.0", "method": "x/more", "params": "m" * 5000})
        one.raw(frame({"jsonrpc": "2.0", "method": "exit"}) + more * 1000)
        assert await asyncio.wait_for(made.life.ended(), 10) == 0


async def test_it_stays_as_long_as_something_runs() -> None:
    async with house() as made:
        made.busy = True
        async with made.client():
            pass
        await asyncio.sleep(0.3)
        assert made.claim.path.exists()
        made.busy = False
        assert await asyncio.wait_for(made.life.ended(), 10) == 0


async def test_who_is_on_the_way_when_it_hides_is_served() -> None:
    async with house() as made:
        await made.hidden()
        assert await asyncio.to_thread(knock, made.claim.path) is None
        async with made.client(made.claim.path.with_name("d.sock~")) as late:
            assert await late.call("x/ask") == 7
            await asyncio.sleep(0.3)
            assert await late.call("x/ask") == 7
            async with made.client() as later:
                assert await later.call("x/ask") == 7
        assert await asyncio.wait_for(made.life.ended(), 10) == 0


async def test_whoever_is_there_at_the_end_is_let_go() -> None:
    async with house() as made, made.client() as one:
        made.life.stop(3)
        await asyncio.wait_for(made.open, 10)
        async with asyncio.timeout(10):
            while not one.ended:  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.01)
        assert one.broken is None


COMMAND = """
import ctypes, socket, sys
if sys.argv[2] == "confined":
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
made = socket.socket(socket.AF_UNIX)
made.connect(sys.argv[1])
made.sendall(b"x")
made.settimeout(20)
sys.exit(made.recv(1) != b"")
"""


def clients_become(path: Path, count: int) -> bool:
    """Whether so many come to be there."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if (there := holder(path)) is not None and there.clients == count:
            return True
        time.sleep(0.02)
    return False


async def test_a_confined_command_is_not_let_in() -> None:
    """Landlock leaves sockets open, and whoever speaks with the daemon can run anything."""
    async with house() as made, made.client() as one:
        path = str(made.claim.path)
        command = await asyncio.create_subprocess_exec(
            sys.executable, "-c", COMMAND, path, "confined", stderr=asyncio.subprocess.DEVNULL
        )
        await asyncio.wait_for(command.wait(), 30)
        there = await asyncio.to_thread(holder, made.claim.path)
        assert there is not None and there.clients == 1
        free = await asyncio.create_subprocess_exec(sys.executable, "-c", COMMAND, path, "free")
        assert await asyncio.to_thread(clients_become, made.claim.path, 2)
        free.kill()
        await free.wait()
        assert await one.call("x/ask") == 7
