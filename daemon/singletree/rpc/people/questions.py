"""Questions to people that wait for an answer, and who can be asked.

All clients of the session that can be asked are asked at once; the first answer counts and the
others are told. Who comes while a question is open is asked too. A client that answers `null` or an
error to the request itself leaves the question to the others and is not asked such a thing again.
When the last client that was asked has gone, the question waits a moment for one to come: a window
that reloads. Cancelling the asker withdraws it everywhere. Never knows what is asked. Read next:
permission.py and dialogs.py (the two kinds of questions).
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup

from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.faults import RpcError
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.permission import ResolvedParams
from singletree.session.events import PermissionChanged, SessionEvent

log = logging.getLogger(__name__)

RELOAD_SECONDS: Final = 12.0
"""How long an open question waits for a client when the last one has gone: VS Code took over 6."""

Status = Literal["allowed", "denied", "answered", "cancelled"]


class Answered(Protocol):
    """An answer. `by`: a client, "timeout" or "policy"."""

    @property
    def by(self) -> str | None:
        """Whose it is."""
        ...


A = TypeVar("A", bound=Answered)


@dataclass(frozen=True, slots=True)
class Way(Generic[A]):
    """How one question is put to a client.

    `by_request` asks a client that `declares` it, `by_dialog` any other (None: it cannot be asked);
    both give None where the client did not understand. `nobody`: the answer when nobody is left,
    `late` when there was none within `seconds`.
    """

    method: str
    declares: Callable[[Peer], bool]
    by_request: Callable[[Peer, JsonObject], Awaitable[A | None]]
    by_dialog: Callable[[Peer], Awaitable[A | None]] | None
    nobody: A
    status: Callable[[A], Status]
    late: A | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Open(Generic[A]):
    """A question that waits. `answer` is set once, by whoever is first; `asking`: who has it.

    `answerer`: the client whose answer it is, if it is one's; two may have the same name.
    """

    request_id: str
    session_id: str
    params: JsonObject
    way: Way[A]
    group: TaskGroup | None = None
    asking: set[Peer] = field(default_factory=set)
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: A | None = None
    answerer: Peer | None = None

    def resolve(self, answer: A, peer: Peer | None = None) -> None:
        """The first answer counts."""
        if self.answer is None:
            self.answer, self.answerer = answer, peer
            self.done.set()


class Questions:
    """The open questions of a process.

    `peers` gives the clients of a session; `tell` tells all of them what becomes of a question.
    """

    def __init__(
        self,
        peers: Callable[[str], Sequence[Peer]],
        tell: Callable[[str, SessionEvent], None],
    ) -> None:
        self._peers = peers
        self._tell = tell
        self._open: dict[str, Open[Any]] = {}
        self._mute: set[tuple[Peer, str]] = set()

    def pending(self, session_id: str) -> list[Open[Any]]:
        """What waits in a session."""
        return [one for one in self._open.values() if one.session_id == session_id]

    async def ask(
        self,
        session_id: str,
        way: Way[A],
        params: Callable[[str], JsonObject],
        before: Callable[[str], None] = lambda request_id: None,
    ) -> A:
        """Ask everybody who can be asked. `params` and `before` are given the question's id."""
        request_id = secrets.token_hex(6)
        one = Open(request_id, session_id, params(request_id), way)
        self._open[request_id] = one
        before(request_id)
        self._tell(session_id, PermissionChanged(request_id, "open"))
        asked = list(self._peers(session_id))
        try:
            async with anyio.create_task_group() as one.group:
                for peer in asked:
                    self._begin(peer, one)
                if not one.asking:
                    self._nobody(one, gone=not asked)
                with anyio.move_on_after(way.seconds):
                    await one.done.wait()
                one.resolve(way.late or way.nobody)
                one.group.cancel_scope.cancel()
        finally:
            del self._open[request_id]
            self._tell_end(one)
        return one.answer or way.nobody

    def join(self, session_id: str, peer: Peer) -> None:
        """A client hears the session from now on: what is open there is asked of it too."""
        for one in self.pending(session_id):
            if peer not in one.asking:
                self._begin(peer, one)

    def dismiss(self, session_id: str, method: str, answer: Answered) -> None:
        """Answer for everybody what waits in a session."""
        for one in self.pending(session_id):
            if one.way.method == method:
                one.resolve(answer)

    def forget(self, peer: Peer) -> None:
        """A client has left."""
        self._mute = {(muted, method) for muted, method in self._mute if muted is not peer}

    def _begin(self, peer: Peer, one: Open[Any]) -> None:
        way = one.way
        able = way.declares(peer) or way.by_dialog is not None
        if one.group is not None and able and (peer, way.method) not in self._mute:
            one.asking.add(peer)
            one.group.start_soon(self._ask, peer, one)

    async def _ask(self, peer: Peer, one: Open[A]) -> None:
        """One client's answer; one that has none leaves it to the others."""
        gone = False
        answer: A | None = None
        try:
            if one.way.declares(peer):
                answer = await one.way.by_request(peer, one.params)
            elif one.way.by_dialog is not None:
                answer = await one.way.by_dialog(peer)
        except ClientGone:
            gone = True
        except (ClientError, RpcError) as error:
            log.info("a client cannot be asked: %s", error)
        if answer is not None:
            one.resolve(answer, peer)
            return
        if not gone:
            self._mute.add((peer, one.way.method))
        one.asking.discard(peer)
        if not one.asking:
            self._nobody(one, gone=gone)

    def _nobody(self, one: Open[Any], *, gone: bool) -> None:
        """Nobody is left who could answer; one who has `gone` may be on the way back."""
        if gone and one.group is not None:
            one.group.start_soon(self._wait_for_one, one)
        else:
            one.resolve(one.way.nobody)

    async def _wait_for_one(self, one: Open[Any]) -> None:
        await anyio.sleep(RELOAD_SECONDS)
        if not one.asking:
            one.resolve(one.way.nobody)

    def _tell_end(self, one: Open[A]) -> None:
        """Everybody hears how it ended; who still shows the question takes it off the screen."""
        answer = one.answer
        by = "abort" if answer is None else answer.by or "policy"
        status: Status = "cancelled" if answer is None else one.way.status(answer)
        self._tell(one.session_id, PermissionChanged(one.request_id, status, by))
        for peer in one.asking:
            if one.way.declares(peer) and peer is not one.answerer:
                told = ResolvedParams(session_id=one.session_id, request_id=one.request_id, by=by)
                peer.notify("agent/request/resolved", told.dump())


def client_id(peer: Peer) -> str:
    """How a client is named to the others."""
    named = peer.client.agent.get("clientId")
    return named if isinstance(named, str) and named else peer.client.name or "client"
