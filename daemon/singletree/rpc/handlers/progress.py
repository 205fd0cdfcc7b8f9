"""A person cancels what the host shows as work in progress."""

from __future__ import annotations

from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.base import Params
from singletree.rpc.routes import Call, Route, Routes


class CancelParams(Params):
    """window/workDoneProgress/cancel. Tokens of ours are texts."""

    token: int | str


def routes(daemon: Daemon) -> Routes:
    """The one method."""

    def cancel(params: CancelParams, call: Call) -> None:
        daemon.plain.cancel(call.peer, str(params.token))

    return {"window/workDoneProgress/cancel": Route(CancelParams, cancel)}
