"""Which plain LSP hosts look at which sessions.

Read next: host.py (what one of them sees), ../front.py.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from singletree.extensions.sign import Sign
from singletree.rpc.peer import Peer
from singletree.rpc.plain.host import PlainHost, Spawn
from singletree.rpc.plain.window import tell
from singletree.session.events import SessionEvent
from singletree.session.session import AgentSession
from singletree.session.state import SessionState

SKIPPED: Final = "This folder is not trusted, so not used: {what}. agent.trust asks you about it."


class PlainHosts:
    """The plain hosts of a process, by session. `spawn` runs what nobody waits for."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._looking: dict[str, dict[Peer, PlainHost]] = {}

    def join(self, session: AgentSession, peer: Peer) -> None:
        """A host has had to do with a session: it sees from now on what becomes of it.

        What is wrong with the session, or does not count, it is told first.
        """
        looking = self._looking.setdefault(session.id, {})
        if peer not in looking:
            stop, state = partial(self._spawn, partial(_stop, session)), session.state()
            looking[peer] = PlainHost(peer, state.phase, stop, self._spawn)
            if to_know := _to_know(state):
                tell(peer, to_know, "warning")

    def of(self, session_id: str) -> list[Peer]:
        """The hosts of a session."""
        return list(self._looking.get(session_id, ()))

    def tell(self, session_id: str, event: SessionEvent) -> None:
        """Something happened in a session."""
        for host in tuple(self._looking.get(session_id, {}).values()):
            host.tell(event)

    def show(self, session_id: str, sign: Sign) -> None:
        """An extension shows something."""
        for host in self._looking.get(session_id, {}).values():
            host.show(sign)

    def cancel(self, peer: Peer, token: str) -> None:
        """A person cancels what a host shows; a token of nobody is nothing."""
        for looking in self._looking.values():
            if peer in looking and looking[peer].cancel(token):
                return

    def leave(self, peer: Peer, session_id: str) -> None:
        """A host sees no more of a session."""
        if (host := self._looking.get(session_id, {}).pop(peer, None)) is not None:
            host.close()

    def closed(self, session_id: str) -> None:
        """A session is closed."""
        for host in self._looking.pop(session_id, {}).values():
            host.close()


def _to_know(state: SessionState) -> str:
    lines = [message for _, message in state.notices]
    if state.skipped:
        lines.append(SKIPPED.format(what=", ".join(path for _, path in state.skipped)))
    return "\n".join(lines)


async def _stop(session: AgentSession) -> None:
    """Whatever runs: a person who cancels does not choose among kinds of work."""
    await session.turns.abort("turn")
    await session.turns.abort("compaction")
    await session.turns.abort("branchSummary")
