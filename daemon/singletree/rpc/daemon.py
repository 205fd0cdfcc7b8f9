"""What the handlers of all clients share: which session a request means, and who is subscribed.

A handler comes here with its call and gets a session. Snapshot and subscription are taken in one
turn of the loop, so no event can fall between. Never knows what a method means. Read next: front.py
(what sessions see of it), snapshot.py, handlers/.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from singletree.errors import SingletreeError
from singletree.host.host import place
from singletree.rpc import snapshot
from singletree.rpc.folders import folder_at, no_workspace
from singletree.rpc.front import Front
from singletree.rpc.peer import Peer
from singletree.rpc.pipes.codec import Encoded
from singletree.rpc.protocol import state as shapes
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.protocol.session import Attached, AttachResult
from singletree.rpc.routes import Call, Routes
from singletree.rpc.telling.bounds import VALUE_BYTES
from singletree.rpc.telling.feed import Cursor
from singletree.session.session import AgentSession


class Daemon(Front):
    """Made once in a process; `methods` is there when its door is open."""

    methods: Routes

    def sessions_of(self, peer: Peer) -> list[AgentSession]:
        """The live sessions in a client's folders, and those it hears."""
        folders = set(self.folders_of(peer).values())
        return [
            one
            for one in self.host.live
            if Path(place(one.cwd)) in folders or peer in self.subscribers(one.id)
        ]

    def connected(self, peer: Peer) -> None:
        """A client has said who it is; its buffers count from now on."""
        self._peers[peer] = None

    def resume_plain(self, peer: Peer) -> None:
        """A plain host is ready: it sees what goes on in its folders and nobody else hears.

        So a window that reloads finds its turn again, and the question that waits there.
        """
        for session in [] if peer.speaks_agent else self.sessions_of(peer):
            if not self.subscribers(session.id):
                self.plain.join(session, peer)
                self.questions.join(session.id, peer)

    def subscribe(
        self, call: Call, session: AgentSession, since: Cursor | None = None
    ) -> tuple[Cursor, tuple[Encoded, ...] | None]:
        """The caller hears the session from now on, once its answer is out.

        A plain LSP host sees it instead, in its own way.
        """
        stream, peer = self._streams[session.id], call.peer
        if peer not in self._peers:  # it has left while its request went on
            return stream.feed.cursor, None
        if not peer.speaks_agent:
            self.plain.join(session, peer)
            call.after_reply(lambda: self.questions.join(session.id, peer))
            return stream.feed.cursor, None
        self.plain.leave(peer, session.id)
        stream.unsubscribe(peer)
        attached = stream.feed.attach(peer.outbox, peer.client.delivery, since)
        stream.subscriptions[peer] = attached.subscription
        call.after_reply(attached.subscription.release)
        call.after_reply(lambda: stream.signs.show_to(peer))
        call.after_reply(lambda: self.questions.join(session.id, peer))
        return attached.cursor, attached.replay

    def detach(self, peer: Peer, session_id: str) -> None:
        """A client hears no more of a session."""
        self.plain.leave(peer, session_id)
        stream = self._streams.get(session_id)
        if stream is not None:
            stream.unsubscribe(peer)

    def disconnected(self, peer: Peer) -> None:
        """A client has left; its sessions go on."""
        self._peers.pop(peer, None)
        self.questions.forget(peer)
        self.shown.gone(peer)
        for session_id in self._streams:
            self.detach(peer, session_id)

    def sessions_changed(self, reason: str, session_id: str) -> None:
        """The list of sessions is another one."""
        for peer in self._peers:
            if not peer.speaks_agent:
                continue
            peer.notify("agent/sessions/changed", {"reason": reason, "sessionId": session_id})

    def close_folder(self, uri: str, peer: Peer) -> None:
        """A client has a folder open no more: its sessions end when what runs in them has ended."""
        try:
            gone = place(folder_at(uri))
        except SingletreeError:
            return
        for session in self.host.live:
            if place(session.cwd) == gone:
                self.host.assembly.spawn(partial(self._close_unwanted, session, peer))

    async def _close_unwanted(self, session: AgentSession, peer: Peer) -> None:
        await session.turns.wait()
        gone = Path(place(session.cwd))
        wanting = [p for p in self._peers if gone in self.folders_of(p).values()]
        if peer not in wanting:
            self.detach(peer, session.id)
        if self.host.is_live(session.id) and not wanting and not self.subscribers(session.id):
            await self.close(session)

    def _subscribed(self, peer: Peer, session: AgentSession) -> bool:
        return peer in self._streams[session.id].subscriptions

    def _subscriptions_of(self, peer: Peer) -> list[AgentSession]:
        return [session for session in self.host.live if peer in self.subscribers(session.id)]

    async def session(self, params: SessionParams, call: Call) -> AgentSession:
        """The session that a request means; its caller hears it from then on."""
        found = await self.session_or_none(params, call)
        if found is None:
            heard = {str(s.cwd) for s in self._subscriptions_of(call.peer)}
            raise no_workspace(call.peer.client.folders or heard)
        plain = not call.peer.speaks_agent
        if plain or (params.session_id is None and not self._subscribed(call.peer, found)):
            self.subscribe(call, found)
        return found

    async def session_or_none(self, params: SessionParams, call: Call) -> AgentSession | None:
        """The session by id, by folder, or the only one that the caller hears."""
        if params.session_id is not None:
            return self.host.get(params.session_id)
        folder = None if params.workspace is None else folder_at(params.workspace)
        await call.peer.openings.over(folder)
        if folder is not None:
            return await self.host.open(folder)
        heard = self._subscriptions_of(call.peer)
        if len(heard) == 1:
            return heard[0]
        if len({place(s.cwd) for s in heard}) == 1:
            return self.host.current(heard[0].cwd)
        folders = call.peer.client.folders
        if not heard and len(folders) == 1:
            return await self.host.open(folder_at(folders[0]))
        return None

    async def opened(self, opening: Callable[[], Awaitable[AgentSession]]) -> AgentSession:
        """What was opened. One that is open over a file that was replaced is opened anew."""
        session = await opening()
        replaced = not session.busy and await to_thread.run_sync(session.history.is_replaced)
        if not replaced or session.busy:
            return session
        await self.close(session)
        return await opening()

    def snapshot(
        self, call: Call, session: AgentSession, history: shapes.HistoryParams
    ) -> Attached:
        """Everything a client needs to draw the session, and its subscription on what follows."""
        page = snapshot.page(session, history)
        cursor, _ = self.subscribe(call, session)
        return self._whole(session, page, cursor)

    def attach(
        self,
        call: Call,
        session: AgentSession,
        since: shapes.Cursor | None,
        history: shapes.HistoryParams,
    ) -> AttachResult | Encoded:
        """What the client missed since a cursor, or a snapshot where nobody remembers that."""
        page = snapshot.page(session, history)
        known = None if since is None else Cursor(since.epoch, since.seq)
        cursor, missed = self.subscribe(call, session, known)
        if missed is not None and sum(map(len, missed)) <= VALUE_BYTES:
            stream, questions = self._streams[session.id], self.questions.pending(session.id)
            return snapshot.replay(stream, session, missed, cursor, questions)
        return AttachResult.model_validate(self._whole(session, page, cursor).dump())

    def _whole(self, session: AgentSession, page: shapes.History, cursor: Cursor) -> Attached:
        questions = self.questions.pending(session.id)
        return snapshot.snapshot(self._streams[session.id], session, page, cursor, questions)

    def pending_ids(self, session_id: str) -> list[str]:
        """The open questions of a session."""
        return [one.request_id for one in self.questions.pending(session_id)]

    async def close(self, session: AgentSession) -> None:
        """Let a session go; its clients hear no more of it."""
        stream = self._streams[session.id]
        with anyio.CancelScope(shield=True):
            await self.host.close(session)
        if self._streams.get(session.id) is stream:  # and not that of its next life
            del self._streams[session.id]
        for peer in list(stream.subscriptions):
            stream.unsubscribe(peer)
        self.plain.closed(session.id)
        self.sessions_changed("closed", session.id)
