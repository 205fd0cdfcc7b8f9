"""Telling a person something through nothing but LSP: one line, bounded.

Never decides what is worth telling. Read next: host.py.
"""

from __future__ import annotations

from typing import Final, Literal

from singletree.excerpt import cut
from singletree.rpc.peer import Peer

LONGEST: Final = 1200
Kind = Literal["error", "warning", "info"]
_KINDS: Final[dict[Kind, int]] = {"error": 1, "warning": 2, "info": 3}


def tell(peer: Peer, text: str, kind: Kind = "info") -> None:
    """Show a message; the host decides where."""
    peer.notify("window/showMessage", {"type": _KINDS[kind], "message": cut(text, LONGEST)})
