"""The body of an answer while it arrives: read by one task, looked at by another.

What came while the other one worked is given as one piece, so that many small packets in a row cost
one look. Never knows what the bytes mean, nor how long is too long. Read next: http.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    import httpx


class Arrivals:
    """What came of a response and was not taken yet.

    `whole`: nothing more is wanted, so that it does not matter how the connection ends. `over`:
    nothing more will come.
    """

    def __init__(self, response: httpx.Response, whole: Callable[[], bool]) -> None:
        self._response = response
        self._whole = whole
        self._pieces: list[bytes] = []
        self._news = anyio.Event()
        self.over = False
        self._failure: Exception | None = None

    async def read(self) -> None:
        """Read to the end. A failure is not raised here, but where the bytes are taken."""
        plain = "content-encoding" not in self._response.headers
        pieces = self._response.aiter_raw() if plain else self._response.aiter_bytes()
        try:
            async for piece in pieces:
                if piece:
                    self._pieces.append(piece)
                    self._news.set()
        except Exception as error:
            self._failure = error
        self.over = True
        self._news.set()

    async def take(self) -> bytes:
        """All that came since the last look; waits for it. Nothing at the end."""
        while not (data := b"".join(self._pieces)) and not self.over:
            self._news = anyio.Event()
            await self._news.wait()
        self._pieces.clear()
        if not data and self._failure is not None and not self._whole():
            raise self._failure
        return data
