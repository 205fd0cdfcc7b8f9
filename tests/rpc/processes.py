"""The example server as a child process, and how it ends."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.rpc.client import RawClient, python, spawned

ROOT = Path(__file__).parents[2]
SERVER = python("-m", "tests.rpc.start")


@asynccontextmanager
async def server(*argv: str, **env: str) -> AsyncIterator[RawClient]:
    async with spawned(*(argv or SERVER), cwd=ROOT, env=env) as client:
        yield client


@asynccontextmanager
async def greeted(**env: str) -> AsyncIterator[RawClient]:
    async with server(**env) as client:
        await client.initialize()
        yield client


async def ends(client: RawClient, code: int, seconds: float) -> None:
    begun = time.monotonic()
    assert await client.exit_code() == code
    assert time.monotonic() - begun < seconds
