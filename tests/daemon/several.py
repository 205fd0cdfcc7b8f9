"""One daemon in this process, and several clients of it, each over its own socket."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from tests.daemon.real import Place
from tests.rpc.client import RawClient

from singletree.host.options import Options
from singletree.rpc.doors.serve import serve_socket
from singletree.rpc.server import shared_door_for

Join = Callable[..., AbstractAsyncContextManager[RawClient]]


@asynccontextmanager
async def house(where: Place, *turns: object) -> AsyncIterator[Join]:
    """A function that lets a client in, by its block of an agent's client."""
    options = Options(where.agent_dir, dict(os.environ), model=f"scripted:{where.script(*turns)}")
    async with shared_door_for(options, lambda: 0.0)() as door:
        serving: list[asyncio.Task[None]] = []

        @asynccontextmanager
        async def join(agent: object, **hello: Any) -> AsyncIterator[RawClient]:
            ours, theirs = socket.socketpair()
            serving.append(asyncio.ensure_future(serve_socket(door, ours)))
            reader, writer = await asyncio.open_unix_connection(sock=theirs, limit=1 << 26)
            client = RawClient(reader, writer)
            try:
                await client.initialize(agent, **hello)
                yield client
            finally:
                await client.close()

        try:
            yield join
        finally:
            await asyncio.wait_for(asyncio.gather(*serving), 10)
