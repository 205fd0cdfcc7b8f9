"""The LSP door put together: routes of all topics, the daemon behind them, how it opens and closes.

Imported behind the first answer. Never handles a method itself. Read next: daemon.py, handlers/.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio

from singletree.errors import AuthMissing
from singletree.host.host import Host
from singletree.host.options import Options
from singletree.rpc.connection import Door
from singletree.rpc.daemon import Daemon
from singletree.rpc.declared import declare
from singletree.rpc.handlers import configuration
from singletree.rpc.idle import close_idle
from singletree.rpc.lsp.lazylsp import open_language
from singletree.rpc.lsp.sync import SYNC
from singletree.rpc.peer import Peer
from singletree.rpc.preload import load_the_rest
from singletree.rpc.routes import Route
from singletree.rpc.shown import Shown
from singletree.rpc.telling.failures import WireError, to_error

if TYPE_CHECKING:
    from singletree.rpc.lsp.language import AgentServer

HOMES = {
    "agent/session": "session",
    "agent/prompt": "turn",
    "agent/steer": "turn",
    "agent/followUp": "turn",
    "agent/abort": "turn",
    "agent/bash": "turn",
    "agent/queue": "queue",
    "agent/tree": "tree",
    "agent/compact": "tree",
    "agent/context": "context",
    "agent/model": "model",
    "agent/thinking": "model",
    "agent/usage": "model",
    "agent/config": "config",
    "agent/command": "config",
    "agent/settings": "configuration",
    "agent/trust": "trust",
    "workspace/didChangeConfiguration": "configuration",
    "workspace/didChangeWorkspaceFolders": "folders",
    "workspace/didChangeWatchedFiles": "watching",
    "workspace/executeCommand": "commands",
    "window/workDoneProgress": "progress",
    "agent/content": "content",
    "agent/edits": "edits",
    "agent/permission": "permission",
    "agent/auth": "auth",
}
"""In which file of handlers/ the methods are whose names begin so."""


def door_for(options: Options) -> Callable[[], AbstractAsyncContextManager[Door]]:
    """How the door of a process with these options is opened; it ends with its client."""
    return lambda: _lasting_door(Daemon(options))


def shared_door_for(
    options: Options, idle: Callable[[], float]
) -> Callable[[], AbstractAsyncContextManager[Door]]:
    """The same for a process that many clients share: none of them ends what is everybody's.

    A session that nobody hears is let go after `idle` seconds.
    """
    return lambda: _shared_door(Daemon(options), idle)


OTHERS_KEYS = (
    "This daemon is shared and has the environment of the editor that started it. A key that is set"
    " elsewhere belongs into auth.json; or `singletree stop`, and open this editor's window anew."
)


def _shared_error(error: BaseException) -> WireError | None:
    """As everywhere, and what a person cannot know: whose environment the daemon has."""
    told = to_error(error)
    if told is None or not isinstance(error, AuthMissing):
        return told
    number, message, data = told
    return number, message, {**data, "hint": OTHERS_KEYS}


@asynccontextmanager
async def _shared_door(daemon: Daemon, idle: Callable[[], float]) -> AsyncIterator[Door]:
    async with _lasting_door(daemon) as door:
        daemon.host.assembly.spawn(partial(close_idle, daemon, idle))
        yield replace(door, shutdown=None, orphans=set(), to_error=_shared_error)


@asynccontextmanager
async def _lasting_door(daemon: Daemon) -> AsyncIterator[Door]:
    async with door_of(daemon) as door:
        daemon.host.assembly.spawn(load_the_rest)
        yield door


@asynccontextmanager
async def door_of(daemon: Daemon) -> AsyncIterator[Door]:
    """The door, as long as it is open; every session is saved at its end."""
    async with anyio.create_task_group() as tasks:
        daemon.host = Host(daemon.options, daemon, tasks)
        daemon.methods = Topics(daemon)
        daemon.shown = Shown(partial(_text, daemon), daemon.host.assembly.spawn)
        await daemon.host.assembly.sweep()
        try:
            yield Door(
                routes=daemon.methods,
                to_error=to_error,
                agent=declare(),
                language=open_language(partial(_register, daemon)),
                greeted=daemon.connected,
                initialized=partial(_initialized, daemon),
                shutdown=lambda peer: daemon.host.close_all(),
                closed=daemon.disconnected,
                busy=lambda: any(session.busy for session in daemon.host.live),
            )
        finally:
            with anyio.CancelScope(shield=True):
                await daemon.host.end()
                await daemon.shown.close()
            tasks.cancel_scope.cancel()


def _initialized(daemon: Daemon, peer: Peer) -> None:
    daemon.resume_plain(peer)
    daemon.host.assembly.spawn(partial(configuration.begin, daemon, peer))


async def _text(daemon: Daemon, uri: str) -> str:
    from singletree.rpc.texts import text_at  # not before somebody wants to see something

    return await text_at(daemon, uri)


def _register(daemon: Daemon, server: AgentServer) -> None:
    from singletree.rpc import features  # it brings pygls: not before it is wanted

    features.register(daemon, server)


class Topics(Mapping[str, Route[Any]]):
    """Every method that is served. A file of handlers is imported when it is first needed."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._routes: dict[str, Route[Any]] = dict(SYNC)
        self._left = set(HOMES.values())

    def __getitem__(self, method: str) -> Route[Any]:
        if method not in self._routes:
            self._load(HOMES.get("/".join(method.split("/")[:2]), ""))
        return self._routes[method]

    def __iter__(self) -> Iterator[str]:
        for topic in tuple(self._left):
            self._load(topic)
        return iter(self._routes)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load(self, topic: str) -> None:
        if topic in self._left:
            self._routes |= import_module(f"singletree.rpc.handlers.{topic}").routes(self._daemon)
            self._left.remove(topic)
