"""What stands behind the addresses that events and results give for long texts, by the piece."""

from __future__ import annotations

from functools import partial

from singletree.rpc.addresses import cut
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.context import ContentReadParams, ContentReadResult
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.texts import text_at


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {"agent/content/read": Route(ContentReadParams, partial(_read, daemon))}


async def _read(daemon: Daemon, params: ContentReadParams, call: Call) -> ContentReadResult:
    text, span = await text_at(daemon, params.uri), params.range
    piece = cut(text) if span is None else cut(text, span.start, span.end)
    return ContentReadResult(text=piece.text, size=piece.size, next=piece.next)
