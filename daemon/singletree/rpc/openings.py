"""Sessions that are being opened for one client: what it says meanwhile is meant for them.

Never knows a session. Read next: daemon.py (who waits), handlers/session.py (who opens).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Openings:
    """Those of one client, and the folders that they are for."""

    def __init__(self) -> None:
        self._on: list[tuple[Path | None, asyncio.Event]] = []

    @contextmanager
    def begun(self, folder: Path | None) -> Iterator[None]:
        """One is on, in a folder, or wherever its session is."""
        one = (folder, asyncio.Event())
        self._on.append(one)
        try:
            yield
        finally:
            self._on.remove(one)
            one[1].set()

    async def over(self, folder: Path | None) -> None:
        """Wait for those that are on: of a folder, or all."""
        for where, ended in list(self._on):
            if folder in (None, where):
                await ended.wait()
