"""What stands behind the addresses that events and results give for long texts."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from pydantic_core import to_json

from singletree.errors import SingletreeError, UnknownEntry
from singletree.history.entries import dump
from singletree.messages import text_of
from singletree.rpc.addresses import Address, cut, parse
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.context import ContentReadParams, ContentReadResult
from singletree.rpc.routes import Call, Route, Routes
from singletree.session.session import AgentSession

NOTHING = "Nothing stands behind {uri}."


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {"agent/content/read": Route(ContentReadParams, partial(_read, daemon))}


async def _read(daemon: Daemon, params: ContentReadParams, call: Call) -> ContentReadResult:
    address = parse(params.uri)
    found = None
    if address is not None:
        found = await _find(daemon.host.get(address.session_id), address)
    if found is None:
        raise SingletreeError(NOTHING.format(uri=params.uri), code="not_found")
    span = params.range
    piece = cut(found) if span is None else cut(found, span.start, span.end)
    return ContentReadResult(text=piece.text, size=piece.size, next=piece.next)


async def _find(session: AgentSession, address: Address) -> str | None:
    match address.kind:
        case "entry":
            return _entry(session, address.id)
        case "tool":
            output = await session.output(address.id)
            return None if output is None else text_of(output.content)
        case "toolInput":
            call = await session.call(address.id)
            return None if call is None else to_json(call.arguments).decode()
        case "toolDiff":
            output = await session.output(address.id)
            details = {} if output is None else output.details
            diff = details.get("diff") if isinstance(details, dict) else None
            return diff if isinstance(diff, str) else None
        case "queue":
            return _waiting(session, address.id)
    assert_never(address.kind)


def _entry(session: AgentSession, entry_id: str) -> str | None:
    try:
        return dump(session.history.entry(entry_id)).decode()
    except UnknownEntry:
        return None


def _waiting(session: AgentSession, queue_id: str) -> str | None:
    for item in session.queue.items:
        if item.queue_id == queue_id:
            return to_json([dict(block) for block in item.content]).decode()
    return None
