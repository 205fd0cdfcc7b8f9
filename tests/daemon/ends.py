"""What is left of a daemon: its children, its time to end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.rpc.client import RawClient


def alive(marker: str) -> list[int]:
    """Processes whose command line holds this."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            argv = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker in argv and state != "Z":
            found.append(int(entry.name))
    return found


async def until_alive(marker: str, count: int, seconds: float = 30) -> None:
    """Wait until as many processes hold the marker."""
    async with asyncio.timeout(seconds):
        while len(alive(marker)) != count:  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(0.02)


async def ends(client: RawClient, code: int, seconds: float) -> None:
    """The process ends by itself, with this code, in time."""
    begun = time.monotonic()
    assert await client.exit_code(30) == code
    assert time.monotonic() - begun < seconds
