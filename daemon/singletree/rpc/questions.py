"""Questions to people, and the ladder of who can be asked how.

All clients of the session that can be asked are asked at once, by `agent/permission/request` where
they declared it, else by `window/showMessageRequest`; the first answer counts and the others are
told. Who comes while a question is open is asked too. Nobody to ask, or a dismissed dialog, is a
no; a client that is gone, or that answers `null` or an error to the request itself, leaves the
question to the others and is not asked again. Never decides what is asked.
Read next: ../session/gate.py.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from singletree.messages import ToolCall
from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.faults import RpcError, parse_as
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.permission import (
    PermissionAnswer,
    PermissionOption,
    PermissionParams,
    PermissionSubject,
    ResolvedParams,
)
from singletree.session.events import PermissionChanged, SessionEvent, ToolPending
from singletree.session.gate import Answer, Question

log = logging.getLogger(__name__)

NOBODY = "There is nobody to ask."


@dataclass(slots=True)
class Open:
    """A question that waits. `answer` is set once, by whoever is first; `asking`: who has it."""

    request_id: str
    session_id: str
    question: Question
    params: JsonObject
    group: TaskGroup | None = None
    asking: set[Peer] = field(default_factory=set)
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None

    def resolve(self, answer: Answer) -> None:
        """The first answer counts."""
        if self.answer is None:
            self.answer = answer
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
        self._open: dict[str, Open] = {}
        self._mute: set[Peer] = set()

    def pending(self, session_id: str) -> list[Open]:
        """What waits in a session."""
        return [one for one in self._open.values() if one.session_id == session_id]

    async def ask(self, session_id: str, question: Question) -> Answer:
        """Ask everybody who can be asked; cancelling withdraws the question everywhere."""
        request_id = secrets.token_hex(6)
        params = _params(session_id, request_id, question)
        one = self._open[request_id] = Open(request_id, session_id, question, params.dump())
        call = ToolCall(
            id=question.call_id, name=question.tool, arguments=dict(question.input or {})
        )
        self._tell(session_id, ToolPending(call, request_id))
        self._tell(session_id, PermissionChanged(request_id, "open"))
        asked = list(self._peers(session_id))
        try:
            async with anyio.create_task_group() as one.group:
                for peer in asked:
                    self._begin(peer, one)
                if not one.asking:
                    one.resolve(_nobody())
                await one.done.wait()
                one.group.cancel_scope.cancel()
        finally:
            del self._open[request_id]
            self._tell_end(one)
        return one.answer or _nobody()

    def join(self, session_id: str, peer: Peer) -> None:
        """A client hears the session from now on: what is open there is asked of it too."""
        for one in self.pending(session_id):
            if peer not in one.asking:
                self._begin(peer, one)

    def forget(self, peer: Peer) -> None:
        """A client has left."""
        self._mute.discard(peer)

    def _begin(self, peer: Peer, one: Open) -> None:
        if one.group is not None and peer not in self._mute:
            one.asking.add(peer)
            one.group.start_soon(self._ask, peer, one)

    async def _ask(self, peer: Peer, one: Open) -> None:
        """One client's answer. When no client is left that could answer, it is a no."""
        try:
            if _declares(peer):
                answer = await self._by_request(peer, one)
            else:
                answer = await self._by_dialog(peer, one.question)
        except (ClientGone, ClientError, RpcError) as error:
            log.info("a client cannot be asked: %s", error)
            answer = None
        if answer is not None:
            one.resolve(answer)
            return
        self._mute.add(peer)
        one.asking.discard(peer)
        if not one.asking:
            one.resolve(_nobody())

    async def _by_request(self, peer: Peer, one: Open) -> Answer | None:
        """The answer; None where the client did not understand that it was asked."""
        raw = await peer.call("agent/permission/request", one.params, object)
        if raw is None:
            return None
        given = parse_as(PermissionAnswer, raw)
        kinds = {option.id: option.kind for option in one.question.options}
        if given.outcome == "cancelled" or given.option_id is None:
            return Answer("denied", feedback=given.feedback, by=client_id(peer))
        if given.option_id not in kinds:
            return None
        return Answer(
            "allowed" if kinds[given.option_id] == "allow" else "denied",
            option_id=given.option_id,
            edited_input=given.edited_input,
            feedback=given.feedback,
            by=client_id(peer),
        )

    async def _by_dialog(self, peer: Peer, question: Question) -> Answer:
        options = {option.label: option for option in question.options}
        raw = await peer.call(
            "window/showMessageRequest",
            {
                "type": 3,
                "message": f"{question.title}\n{question.reason}".strip(),
                "actions": [{"title": label} for label in options],
            },
            object,
        )
        title = raw.get("title") if isinstance(raw, dict) else None
        chosen = options.get(title) if isinstance(title, str) else None
        return Answer(
            "allowed" if chosen is not None and chosen.kind == "allow" else "denied",
            option_id=chosen.id if chosen else None,
            by=client_id(peer),
        )

    def _tell_end(self, one: Open) -> None:
        """Everybody hears how it ended; who still shows the question takes it off the screen."""
        answer = one.answer
        by = "abort" if answer is None else answer.by or "policy"
        status = "cancelled" if answer is None else answer.outcome
        self._tell(one.session_id, PermissionChanged(one.request_id, status, by))
        for peer in one.asking:
            if _declares(peer) and by != client_id(peer):
                told = ResolvedParams(session_id=one.session_id, request_id=one.request_id, by=by)
                peer.notify("agent/request/resolved", told.dump())


def _nobody() -> Answer:
    return Answer("denied", feedback=NOBODY, by="policy")


def client_id(peer: Peer) -> str:
    """How a client is named to the others."""
    named = peer.client.agent.get("clientId")
    return named if isinstance(named, str) and named else peer.client.name or "client"


def _declares(peer: Peer) -> bool:
    return "permissions" in peer.client.agent


def _params(session_id: str, request_id: str, question: Question) -> PermissionParams:
    return PermissionParams(
        session_id=session_id,
        request_id=request_id,
        tool_call_id=question.call_id,
        title=question.title,
        subject=PermissionSubject(
            type=question.kind,
            command=question.command,
            cwd=question.cwd,
            paths=list(question.paths),
            diff=question.diff,
        ),
        reason=question.reason,
        options=[
            PermissionOption(
                id=option.id,
                label=option.label,
                kind=option.kind,
                scope=option.scope,
                pattern=option.pattern,
                expires=option.expires,
            )
            for option in question.options
        ],
        default_to_no=question.default_to_no,
        editable_input=None if question.input is None else dict(question.input),
    )
