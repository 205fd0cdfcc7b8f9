"""Many clients over one socket, from the first to a while after the last has gone.

A client that leaves takes nothing along; an idle daemon that nobody needs ends by itself. Before it
does it hides its socket for a moment: who is on the way in by then is served, who comes later
starts another daemon. Never knows a method or a session. Read next: serve.py (one client),
../../host/claim.py (the socket).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable
from typing import Final

from singletree import __version__
from singletree.host.claim import Claim
from singletree.rpc.connection import Door
from singletree.rpc.doors.kin import is_confined
from singletree.rpc.doors.life import Life
from singletree.rpc.doors.serve import OpenDoor, serve_socket, spend
from singletree.rpc.hello import PROTOCOL_VERSIONS

log = logging.getLogger(__name__)

HIDDEN_SECONDS: Final = 0.1
MAX_CLIENTS: Final = 256
PAUSE_SECONDS: Final = 1.0
"""Before the next client is let in when there was no room for one."""


async def listen(open_door: OpenDoor, claim: Claim, idle: Callable[[], float]) -> int:
    """Serve all who come, until the process is told to end or is not needed; the exit code.

    `idle`: how many seconds without a client and without work are enough; 0: never.
    """
    life = Life()
    return await spend(life, _listen_until(life, open_door, claim, idle))


async def _listen_until(
    life: Life, open_door: OpenDoor, claim: Claim, idle: Callable[[], float]
) -> None:
    try:
        async with open_door() as door:
            reception = Reception(life, door, claim, idle)
            await reception.open()
    finally:
        claim.leave()


class Reception:
    """Lets clients in, and looks whether anybody is there."""

    def __init__(self, life: Life, door: Door, claim: Claim, idle: Callable[[], float]) -> None:
        self._life = life
        self._door = door
        self._claim = claim
        self._idle = idle
        self._serving: set[asyncio.Task[None]] = set()
        self._in_the_way = False
        self._waiting: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        """Serve until the end of the process has come, then let everybody go."""
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            self._loop.add_signal_handler(signal.SIGUSR1, self._make_way)
        self._count()
        accepting = asyncio.ensure_future(self._accept())
        await self._life.ended()
        accepting.cancel()
        self._claim.leave()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        for work in self._door.orphans or ():
            work.cancel()

    async def _accept(self) -> None:
        while True:
            try:
                client, _ = await self._loop.sock_accept(self._claim.listener)
            except OSError as error:  # no descriptor is left
                log.warning("a client cannot be let in: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            with contextlib.ExitStack() as unless:
                unless.enter_context(client)
                if await asyncio.to_thread(is_confined, client):
                    log.warning("a command that is confined wanted to speak with the daemon")
                    continue
                unless.pop_all()
            self._let_in(client)

    def _let_in(self, client: socket.socket) -> None:
        self._claim.show()
        if len(self._serving) >= MAX_CLIENTS:
            log.warning("a client was turned away: %d are here", MAX_CLIENTS)
            client.close()
            return
        task = asyncio.ensure_future(serve_socket(self._door, client))
        self._serving.add(task)
        task.add_done_callback(self._let_go)
        self._count()

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        self._count()

    def _count(self) -> None:
        """Somebody came or went."""
        self._claim.say(__version__, PROTOCOL_VERSIONS, len(self._serving))
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._serving:
            return
        seconds = HIDDEN_SECONDS if self._in_the_way else self._idle()
        if seconds > 0:
            self._waiting = self._loop.call_later(seconds, self._perhaps_end)

    def _make_way(self) -> None:
        """Another version would like to have the place: end as soon as nobody needs this one."""
        self._in_the_way = True
        self._count()

    def _perhaps_end(self) -> None:
        if self._door.busy() or self._door.orphans:
            self._count()
            return
        self._claim.hide()
        self._waiting = self._loop.call_later(HIDDEN_SECONDS, self._life.stop, 0)
