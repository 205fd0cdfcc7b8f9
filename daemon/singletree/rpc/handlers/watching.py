"""Files that an editor watches for us have changed."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from singletree.rpc.daemon import Daemon
from singletree.rpc.lsp.watching import METHOD, matter_of
from singletree.rpc.protocol.base import Params, Shape
from singletree.rpc.routes import Call, Route, Routes
from singletree.session.events import CommandsChanged


class Changed(Shape):
    """A file by its address; how it changed is of no consequence."""

    uri: str


class WatchedChanged(Params):
    """workspace/didChangeWatchedFiles."""

    changes: list[Changed] = Field(default_factory=list)


def routes(daemon: Daemon) -> Routes:
    """The one method."""
    return {METHOD: Route(WatchedChanged, partial(_changed, daemon))}


async def _changed(daemon: Daemon, params: WatchedChanged, call: Call) -> None:
    matters = {matter_of(one.uri) for one in params.changes}
    for session in daemon.sessions_of(call.peer):
        if "settings" in matters:
            await session.refresh()
        if "commands" in matters:
            daemon.emit(session.id, CommandsChanged())
