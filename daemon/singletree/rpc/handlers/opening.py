"""Showing a text of a session in the editor, on a person's word.

For hosts that know only LSP, by a command; it is no method of its own. Read next: ../shown.py.
"""

from __future__ import annotations

from functools import partial

from singletree.errors import SingletreeError
from singletree.rpc.addresses import Address, parse
from singletree.rpc.choosing import last_turn
from singletree.rpc.daemon import Daemon
from singletree.rpc.plain.outcomes import Opened
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.routes import Call, Route
from singletree.rpc.texts import NOTHING


class OpenParams(SessionParams):
    """`transcript`, `tree`, `diff` (of the last turn that changed files), or an address."""

    document: str


def route(daemon: Daemon) -> Route[OpenParams]:
    """What the commands that show something stand for."""
    return Route(OpenParams, partial(_open, daemon))


async def _open(daemon: Daemon, params: OpenParams, call: Call) -> Opened:
    address = await _address(daemon, params, call)
    uri, shown = await daemon.shown.show(call.peer, address)
    return Opened(uri=uri, shown=shown)


async def _address(daemon: Daemon, params: OpenParams, call: Call) -> Address:
    match params.document:
        case "transcript" | "tree" as kind:
            return Address((await daemon.session(params, call)).id, kind)
        case "diff":
            session = await daemon.session(params, call)
            return Address(session.id, "diff", await last_turn(daemon, session))
        case uri:
            if (address := parse(uri)) is None:
                raise SingletreeError(NOTHING.format(uri=uri), code="not_found")
            return address
