"""What waits to be said: look at it, change it, take it back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from singletree.messages import Image, Text
from singletree.rpc.content import blocks
from singletree.rpc.daemon import Daemon
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.protocol.queue import (
    QueueClearParams,
    QueueModeParams,
    QueueModeResult,
    QueueRemoveParams,
    QueueReorderParams,
    QueueResult,
    QueueTaken,
    QueueUpdateParams,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import queue_items
from singletree.session.events import QueueItem
from singletree.session.session import AgentSession
from singletree.session.turn.turns import check_full


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/queue/list": Route(SessionParams, partial(_listed, daemon)),
        "agent/queue/update": Route(QueueUpdateParams, partial(_update, daemon), _said),
        "agent/queue/remove": Route(QueueRemoveParams, partial(_remove, daemon)),
        "agent/queue/reorder": Route(QueueReorderParams, partial(_reorder, daemon)),
        "agent/queue/clear": Route(QueueClearParams, partial(_clear, daemon)),
        "agent/queue/mode": Route(QueueModeParams, partial(_mode, daemon)),
    }


async def _listed(daemon: Daemon, params: SessionParams, call: Call) -> QueueResult:
    return _now(await daemon.session(params, call))


def _said(params: QueueUpdateParams, peer: Peer) -> list[Text | Image] | None:
    return None if params.content is None else blocks(params.content, peer.documents)


async def _update(daemon: Daemon, params: QueueUpdateParams, call: Call) -> QueueResult:
    session = await daemon.session(params, call)
    content: list[Text | Image] | None = call.captured
    fitted = None if content is None else await session.user_input.fit(content)
    if content is not None:
        check_full(content)
    session.queue.update(
        params.queue_id,
        content=None if fitted is None else [block.dump() for block in fitted],
        kind=params.kind,
        paused=params.paused,
        version=params.version,
    )
    await session.turns.save_queue()
    return _now(session)


async def _remove(daemon: Daemon, params: QueueRemoveParams, call: Call) -> QueueTaken:
    session = await daemon.session(params, call)
    take = partial(session.queue.remove, params.queue_ids, params.version)
    taken = await session.turns.take_out(take)
    return _taken(session, taken)


async def _reorder(daemon: Daemon, params: QueueReorderParams, call: Call) -> QueueResult:
    session = await daemon.session(params, call)
    session.queue.reorder(params.queue_ids, params.version)
    await session.turns.save_queue()
    return _now(session)


async def _clear(daemon: Daemon, params: QueueClearParams, call: Call) -> QueueTaken:
    session = await daemon.session(params, call)
    take = partial(session.queue.clear, params.kind, params.version)
    taken = await session.turns.take_out(take)
    return _taken(session, taken)


async def _mode(daemon: Daemon, params: QueueModeParams, call: Call) -> QueueModeResult:
    session = await daemon.session(params, call)
    session.queue.set_mode(params.kind, params.mode)
    modes = session.queue.modes
    return QueueModeResult(steer=modes["steer"], follow_up=modes["followUp"])


def _now(session: AgentSession) -> QueueResult:
    return QueueResult(items=queue_items(session.queue.items), version=session.queue.version)


def _taken(session: AgentSession, taken: Sequence[QueueItem]) -> QueueTaken:
    now = _now(session)
    return QueueTaken(items=now.items, version=now.version, removed=queue_items(taken))
