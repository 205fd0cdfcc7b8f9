"""One piece of work as LSP shows it: begun, reported on, ended; a person may cancel it.

The host gives its word that it can show one before it is begun; reports that follow each other
fast are joined. Never knows what is done. Read next: host.py.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio

from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer

TITLE: Final = "Agent"
CREATE_SECONDS: Final = 10.0
PAUSE: Final = 0.1


def can_show(peer: Peer) -> bool:
    """Whether the host declared that it shows progress the daemon begins."""
    return part(peer.client.capabilities, "window").get("workDoneProgress") is True


@asynccontextmanager
async def shown(peer: Peer, token: int | str | None, title: str) -> AsyncIterator[None]:
    """Show work under a token that the client has given, if it has."""
    if token is None:
        yield
        return
    peer.notify("$/progress", {"token": token, "value": {"kind": "begin", "title": title}})
    try:
        yield
    finally:
        peer.notify("$/progress", {"token": token, "value": {"kind": "end"}})


class Progress:
    """Work that is shown until `end`. `cancel` is what a person who cancels it wants done."""

    def __init__(self, peer: Peer, message: str, cancel: Callable[[], None]) -> None:
        self.token = f"singletree-{secrets.token_hex(8)}"
        self.cancel = cancel
        self._peer = peer
        self._message = message
        self._over = False
        self._changed = anyio.Event()

    def report(self, message: str) -> None:
        """What it is at now."""
        if message != self._message:
            self._message = message
            self._wake()

    def end(self) -> None:
        """It is over."""
        self._over = True
        self._wake()

    async def run(self) -> None:
        """Show it as long as it lasts; not at all where the host will not."""
        try:
            with anyio.fail_after(CREATE_SECONDS):
                token = {"token": self.token}
                await self._peer.call("window/workDoneProgress/create", token, object)
        except (ClientError, ClientGone, TimeoutError):
            return
        shown = self._message
        self._tell({"kind": "begin", "title": TITLE, "message": shown, "cancellable": True})
        while not self._over:
            await self._changed.wait()
            self._changed = anyio.Event()
            if self._message != shown and not self._over:
                shown = self._message
                self._tell({"kind": "report", "message": shown, "cancellable": True})
                await anyio.sleep(PAUSE)
        self._tell({"kind": "end"})

    def _tell(self, value: dict[str, object]) -> None:
        self._peer.notify("$/progress", {"token": self.token, "value": value})

    def _wake(self) -> None:
        self._changed.set()
