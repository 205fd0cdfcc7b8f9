"""Questions to people, and the ladder of who can be asked how.

All clients of the session that can be asked are asked at once, by `agent/permission/request` where
they declared it, else by `window/showMessageRequest`; the first answer counts and the others are
told. Nobody to ask, a dismissed dialog or a client that goes away is a no; a client that answers
`null` or an error to the request itself cannot be asked any more. Never decides what is asked.
Read next: ../session/gate.py.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from singletree.rpc.asking import ClientGone
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
from singletree.session.gate import Answer, Question

log = logging.getLogger(__name__)

NOBODY = "There is nobody to ask."


@dataclass(slots=True)
class Open:
    """A question that waits. `answer` is set once, by whoever is first."""

    request_id: str
    session_id: str
    params: JsonObject
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None

    def resolve(self, answer: Answer) -> None:
        """The first answer counts."""
        if self.answer is None:
            self.answer = answer
            self.done.set()


class Questions:
    """The open questions of a process. `peers` gives the clients of a session."""

    def __init__(self, peers: Callable[[str], Sequence[Peer]]) -> None:
        self._peers = peers
        self._open: dict[str, Open] = {}
        self._mute: set[Peer] = set()

    def pending(self, session_id: str) -> list[Open]:
        """What waits in a session."""
        return [one for one in self._open.values() if one.session_id == session_id]

    async def ask(self, session_id: str, question: Question) -> Answer:
        """Ask everybody who can be asked; cancelling withdraws the question everywhere."""
        request_id = secrets.token_hex(6)
        params = _params(session_id, request_id, question)
        one = Open(request_id, session_id, params.dump())
        self._open[request_id] = one
        peers = [peer for peer in self._peers(session_id) if self._can_ask(peer)]
        answer = Answer("denied", by="abort")
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._ask_all, peers, one, question)
                await one.done.wait()
                group.cancel_scope.cancel()
            answer = one.answer or answer
        finally:
            del self._open[request_id]
            self._tell_others(peers, one, answer)
        return answer

    def _can_ask(self, peer: Peer) -> bool:
        return peer not in self._mute and (_declares(peer) or _shows_dialogs(peer))

    async def _ask_all(self, peers: Sequence[Peer], one: Open, question: Question) -> None:
        """Every client's answer; when none of them can give one, it is a no."""
        async with anyio.create_task_group() as group:
            for peer in peers:
                group.start_soon(self._ask, peer, one, question)
        one.resolve(Answer("denied", feedback=NOBODY, by="policy"))

    async def _ask(self, peer: Peer, one: Open, question: Question) -> None:
        """One client's answer; a client that cannot answer leaves the others to it."""
        try:
            if _declares(peer):
                answer = await self._by_request(peer, one)
            else:
                answer = await self._by_dialog(peer, question)
        except (ClientGone, RpcError) as error:
            log.info("a client cannot be asked: %s", error)
            self._mute.add(peer)
            return
        one.resolve(answer)

    async def _by_request(self, peer: Peer, one: Open) -> Answer:
        raw = await peer.call("agent/permission/request", one.params, object)
        if raw is None:
            self._mute.add(peer)
            return Answer("denied", feedback=None, by=client_id(peer))
        given = parse_as(PermissionAnswer, raw)
        if given.outcome == "cancelled" or given.option_id is None:
            return Answer("denied", feedback=given.feedback, by=client_id(peer))
        return Answer(
            "allowed",
            option_id=given.option_id,
            edited_input=given.edited_input,
            feedback=given.feedback,
            by=client_id(peer),
        )

    async def _by_dialog(self, peer: Peer, question: Question) -> Answer:
        labels = {option.label: option.id for option in question.options}
        raw = await peer.call(
            "window/showMessageRequest",
            {
                "type": 3,
                "message": f"{question.title}\n{question.reason}".strip(),
                "actions": [{"title": label} for label in labels],
            },
            object,
        )
        title = raw.get("title") if isinstance(raw, dict) else None
        option = labels.get(title) if isinstance(title, str) else None
        return Answer("allowed" if option else "denied", option_id=option, by=client_id(peer))

    def _tell_others(self, peers: Sequence[Peer], one: Open, answer: Answer) -> None:
        for peer in peers:
            if _declares(peer) and answer.by != client_id(peer):
                resolved = ResolvedParams(
                    session_id=one.session_id,
                    request_id=one.request_id,
                    by=answer.by or "policy",
                )
                peer.notify("agent/request/resolved", resolved.dump())


def client_id(peer: Peer) -> str:
    """How a client is named to the others."""
    named = peer.client.agent.get("clientId")
    return named if isinstance(named, str) and named else peer.client.name or "client"


def _declares(peer: Peer) -> bool:
    return "permissions" in peer.client.agent


def _shows_dialogs(peer: Peer) -> bool:
    """A plain host is asked by a dialog; one that speaks the agent's protocol says what it can."""
    return not peer.client.agent


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
