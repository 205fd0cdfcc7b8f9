"""One session on the wire: its feed, its translator, its signs, who hears it.

Never finds a session and never asks anybody. Read next: daemon.py, snapshot.py (all of it at once).
"""

from __future__ import annotations

from pathlib import Path

from singletree.rpc.peer import Peer
from singletree.rpc.people.signs import Signs
from singletree.rpc.telling.feed import Feed, Subscription
from singletree.rpc.telling.parts import Delta
from singletree.rpc.telling.translate import Translator
from singletree.session.edits.ledger import Ledger
from singletree.session.events import SessionEvent


class Stream:
    """What belongs to one life of a session in memory."""

    def __init__(self, session_id: str, cwd: Path, ledger: Ledger) -> None:
        self.cwd = cwd
        self.ledger = ledger
        self.feed = Feed(session_id)
        self.translator = Translator(session_id, str(cwd))
        self.signs = Signs(session_id)
        self.subscriptions: dict[Peer, Subscription] = {}

    def tell(self, event: SessionEvent) -> None:
        """Give an event to everybody who hears this session."""
        for told in self.translator.feed(event):
            if isinstance(told, Delta):
                key = told.key
                self.feed.emit_delta(key.item_id, key.kind, key.part, told.chunk, told.text)
            else:
                self.feed.emit_event(told)

    def unsubscribe(self, peer: Peer) -> None:
        """A client hears no more of this session, if it heard it."""
        if (subscription := self.subscriptions.pop(peer, None)) is not None:
            subscription.close()
