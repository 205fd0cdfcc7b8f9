"""What stands behind the addresses that events and results give for long texts."""

from __future__ import annotations

from functools import partial

from pydantic_core import to_json

from singletree.errors import SingletreeError, UnknownEntry
from singletree.history.entries import MessageEntry, dump
from singletree.messages import ToolResultMessage, text_of
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
        found = _find(daemon.host.get(address.session_id), address)
    if found is None:
        raise SingletreeError(NOTHING.format(uri=params.uri), code="not_found")
    span = params.range
    piece = cut(found) if span is None else cut(found, span.start, span.end)
    return ContentReadResult(text=piece.text, size=piece.size, next=piece.next)


def _find(session: AgentSession, address: Address) -> str | None:
    match address.kind:
        case "entry":
            return _entry(session, address.id)
        case "tool":
            return _output(session, address.id)
        case "queue":
            return _waiting(session, address.id)


def _entry(session: AgentSession, entry_id: str) -> str | None:
    try:
        return dump(session.history.entry(entry_id)).decode()
    except UnknownEntry:
        return None


def _output(session: AgentSession, call_id: str) -> str | None:
    """The newest answer to the call, on whatever branch it is."""
    found = None
    for entry in session.history.each("message"):
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, ToolResultMessage) and message.tool_call_id == call_id:
            found = text_of(message.content)
    return found


def _waiting(session: AgentSession, queue_id: str) -> str | None:
    for item in session.queue.items:
        if item.queue_id == queue_id:
            return to_json([dict(block) for block in item.content]).decode()
    return None
