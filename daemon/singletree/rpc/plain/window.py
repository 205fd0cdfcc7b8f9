"""What LSP's window shows a person: a message, or a question with a few answers.

Never decides what is worth telling or asking. Read next: host.py, ../people/permission.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from singletree.excerpt import cut
from singletree.rpc.peer import Peer

LONGEST: Final = 1200
Kind = Literal["error", "warning", "info"]
_KINDS: Final[dict[Kind, int]] = {"error": 1, "warning": 2, "info": 3}


def tell(peer: Peer, text: str, kind: Kind = "info") -> None:
    """Show a message; the host decides where."""
    peer.notify("window/showMessage", {"type": _KINDS[kind], "message": cut(text, LONGEST)})


async def ask(peer: Peer, text: str, answers: Iterable[str], kind: Kind = "info") -> str | None:
    """Show a question: the answer that was chosen, or None where it was closed."""
    actions = [{"title": title} for title in answers]
    params = {"type": _KINDS[kind], "message": text, "actions": actions}
    chosen = await peer.call("window/showMessageRequest", params, object)
    title = chosen.get("title") if isinstance(chosen, dict) else None
    return title if isinstance(title, str) else None
