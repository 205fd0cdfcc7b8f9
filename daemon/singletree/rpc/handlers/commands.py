"""`workspace/executeCommand`: what a host without any method of ours can do.

A command is another method in disguise: its params are made here, checked and captured by that
method's own route when the message arrives, and run by its handler. What came of it is told in one
line, for hosts throw the result of a command away. Read next: ../plain/commands.py (the
table), ../choosing.py (what is asked where nothing was given), ../plain/outcomes.py (the line).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import JsonValue

from singletree.rpc.choosing import choose
from singletree.rpc.daemon import Daemon
from singletree.rpc.handlers import opening
from singletree.rpc.peer import Peer
from singletree.rpc.plain.commands import OPEN, find, params_of
from singletree.rpc.plain.outcomes import outcome
from singletree.rpc.plain.window import tell
from singletree.rpc.protocol.base import JsonObject, Params
from singletree.rpc.routes import Call, Route, Routes


class ExecuteParams(Params):
    """workspace/executeCommand."""

    command: str
    arguments: list[JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A command as it was when it came. `value` is None where something has to be chosen first."""

    route: Route[Any]
    given: JsonObject
    value: Any = None
    captured: Any = None


def routes(daemon: Daemon) -> Routes:
    """The one method, on top of all that are served."""
    run, received = partial(_run, daemon), partial(_received, daemon)
    return {"workspace/executeCommand": Route(ExecuteParams, run, received)}


def _received(daemon: Daemon, params: ExecuteParams, peer: Peer) -> Ready:
    command = find(params.command)
    given = params_of(params.command, params.arguments or (), peer)
    route = opening.route(daemon) if command.method == OPEN else daemon.methods[command.method]
    if command.needs is not None and given.get(command.needs) is None:
        return Ready(route, given)
    value = route.parse(given)
    captured = None if route.on_receive is None else route.on_receive(value, peer)
    return Ready(route, given, value, captured)


async def _run(daemon: Daemon, params: ExecuteParams, call: Call) -> object:
    ready: Ready = call.captured
    value, needs = ready.value, find(params.command).needs
    if value is None and needs is not None:
        chosen = await choose(daemon, call, params.command, needs, ready.given)
        if chosen is None:
            return None
        value = ready.route.parse({**ready.given, needs: chosen})
    call.captured = ready.captured
    result = ready.route.handler(value, call)
    if inspect.isawaitable(result):
        result = await result
    if (line := outcome(result)) is not None:
        tell(call.peer, line)
    return result
