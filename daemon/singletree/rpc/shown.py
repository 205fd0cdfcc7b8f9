"""Texts of sessions in editors: shown on a person's word, made anew when they have changed.

An editor that knows LSP 3.18 asks for the text behind an `agent://` address by itself and is told
when to ask again. For any other the text is a file in a private folder, written anew when it has
changed, and gone with the daemon. Nothing here takes the focus. Never knows what is in a text. Read
next: texts.py (what the texts are), handlers/opening.py.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from singletree.errors import SingletreeError
from singletree.rpc.addresses import CHANGING, Address
from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer
from singletree.rpc.temporary import TemporaryFiles
from singletree.session.events import EditsChanged, EntryAppended, LeafMoved, SessionEvent

log = logging.getLogger(__name__)

PAUSE: Final = 1.0
"""Seconds in which changes are joined."""
REMEMBERED: Final = 64
"""Texts of one client that are kept up to date; the oldest is forgotten."""
ASK_SECONDS: Final = 10.0

Text = Callable[[str], Awaitable[str]]
Spawn = Callable[[Callable[[], Awaitable[None]]], None]


class Shown:
    """Which clients look at which texts. `text` makes one, `spawn` runs what nobody waits for."""

    def __init__(self, text: Text, spawn: Spawn) -> None:
        self._text = text
        self._spawn = spawn
        self._looking: dict[Peer, dict[Address, bool]] = {}
        self._changed: set[str] = set()
        self._files = TemporaryFiles()

    def looks(self, peer: Peer, address: Address, *, as_file: bool = False) -> None:
        """A client has this text, by its address or as a file."""
        if address.kind not in CHANGING or peer.gone:
            return
        looking = self._looking.setdefault(peer, {})
        looking.pop(address, None)
        looking[address] = as_file
        if len(looking) > REMEMBERED:
            del looking[next(iter(looking))]

    async def show(self, peer: Peer, address: Address) -> tuple[str, bool]:
        """Put a text before a person: the address it now has, and whether the editor shows it."""
        text = await self._text(str(address))
        if knows_addresses(peer):
            uri = str(address)
            self.looks(peer, address)
        else:
            path = await self._put(address, text)
            uri = path.as_uri()
            self.looks(peer, address, as_file=True)
        return uri, await _show(peer, uri)

    def hear(self, session_id: str, event: SessionEvent) -> None:
        """Something happened in a session."""
        if not isinstance(event, EntryAppended | LeafMoved | EditsChanged):
            return
        if session_id in self._changed or not self._looked_at(session_id):
            return
        self._changed.add(session_id)
        self._spawn(partial(self._refresh, session_id))

    def gone(self, peer: Peer) -> None:
        """A client has left."""
        self._looking.pop(peer, None)

    async def close(self) -> None:
        """The end: no file stays."""
        await to_thread.run_sync(self._files.close)

    async def _put(self, address: Address, text: str) -> Path:
        name = str(address).rpartition("://")[2]
        return await to_thread.run_sync(self._files.put, name, text)

    def _looked_at(self, session_id: str) -> list[tuple[Peer, Address, bool]]:
        return [
            (peer, address, as_file)
            for peer, looking in self._looking.items()
            for address, as_file in looking.items()
            if address.session_id == session_id
        ]

    async def _refresh(self, session_id: str) -> None:
        await anyio.sleep(PAUSE)
        self._changed.discard(session_id)
        for peer, address, as_file in self._looked_at(session_id):
            try:
                if as_file:
                    await self._put(address, await self._text(str(address)))
                else:
                    await _tell(peer, str(address))
            except (ClientError, TimeoutError, SingletreeError) as error:
                log.info("%s is not kept up to date: %s", address, error)
                self._looking.get(peer, {}).pop(address, None)
            except ClientGone:
                self.gone(peer)


def knows_addresses(peer: Peer) -> bool:
    """Whether the client asks for texts behind addresses (LSP 3.18)."""
    workspace = part(peer.client.capabilities, "workspace")
    return isinstance(workspace.get("textDocumentContent"), dict)


async def _show(peer: Peer, uri: str) -> bool:
    window = part(peer.client.capabilities, "window")
    if part(window, "showDocument").get("support") is not True:
        return False
    asked = {"uri": uri, "external": False, "takeFocus": False}
    try:
        with anyio.fail_after(ASK_SECONDS):
            answer = await peer.call("window/showDocument", asked, object)
    except (ClientError, ClientGone, TimeoutError):
        return False
    return isinstance(answer, dict) and answer.get("success") is True


async def _tell(peer: Peer, uri: str) -> None:
    with anyio.fail_after(ASK_SECONDS):
        await peer.call("workspace/textDocumentContent/refresh", {"uri": uri}, object)
