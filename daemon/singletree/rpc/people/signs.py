"""Signs of extensions, shown to every client of a session that declared their kind.

A sign has no number and no place in the session's file. Those that last are kept as long as the
session is open and shown to who comes later, so that a window that reloads looks as before. Read
next: ../../extensions/sign.py, ../front.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from singletree.extensions.sign import LASTING, Sign, SignKind
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.ui import UiUpdateParams

METHOD: Final = "agent/ui/update"

DECLARED: Final[dict[SignKind, str]] = {
    "status": "status",
    "title": "status",
    "widget": "widgets",
    "notice": "notify",
    "editorText": "notify",
}
"""Where a client says in `ui` that it shows a kind."""


class Signs:
    """The signs of one session."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._standing: dict[tuple[SignKind, str], Sign] = {}

    def put(self, sign: Sign, peers: Iterable[Peer]) -> None:
        """A sign is put up, changed or taken away."""
        place = (sign.kind, sign.key)
        if sign.payload is None:
            if self._standing.pop(place, None) is None and sign.kind in LASTING:
                return
        elif sign.kind in LASTING:
            self._standing[place] = sign
        for peer in peers:
            self._show(sign, peer)

    def show_to(self, peer: Peer) -> None:
        """All that stands, to one who comes."""
        for sign in self._standing.values():
            self._show(sign, peer)

    def _show(self, sign: Sign, peer: Peer) -> None:
        if isinstance(part(peer.client.agent, "ui").get(DECLARED[sign.kind]), dict):
            told = UiUpdateParams(
                session_id=self._session_id, kind=sign.kind, key=sign.key, payload=sign.payload
            )
            peer.notify(METHOD, told.dump())
