"""The LSP door put together: routes of all topics, the daemon behind them, how it opens and closes.

Imported behind the first answer. Never handles a method itself. Read next: daemon.py, handlers/.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import anyio

from singletree.host.host import Host
from singletree.host.options import Options
from singletree.rpc.connection import Door
from singletree.rpc.daemon import Daemon
from singletree.rpc.declared import declare
from singletree.rpc.handlers import (
    auth,
    config,
    configuration,
    content,
    context,
    edits,
    folders,
    model,
    permission,
    queue,
    session,
    tree,
    turn,
)
from singletree.rpc.lazylsp import open_language
from singletree.rpc.peer import Peer
from singletree.rpc.routes import Routes
from singletree.rpc.sync import SYNC
from singletree.rpc.wire import to_error

TOPICS = (
    session,
    turn,
    queue,
    tree,
    context,
    model,
    config,
    configuration,
    content,
    edits,
    folders,
    permission,
    auth,
)


def door_for(options: Options) -> Callable[[], AbstractAsyncContextManager[Door]]:
    """How the door of a process with these options is opened."""
    return lambda: door_of(Daemon(options))


@asynccontextmanager
async def door_of(daemon: Daemon) -> AsyncIterator[Door]:
    """The door, as long as it is open; every session is saved at its end."""
    async with anyio.create_task_group() as tasks:
        daemon.host = Host(daemon.options, daemon, tasks)
        await daemon.host.assembly.sweep()
        try:
            yield Door(
                routes=routes(daemon),
                to_error=to_error,
                agent=declare(),
                language=open_language(lambda server: None),
                greeted=daemon.came,
                initialized=partial(_initialized, daemon),
                shutdown=lambda peer: daemon.host.close_all(),
                closed=daemon.gone,
            )
        finally:
            with anyio.CancelScope(shield=True):
                await daemon.host.close_all()
            tasks.cancel_scope.cancel()


def _initialized(daemon: Daemon, peer: Peer) -> None:
    daemon.host.assembly.spawn(partial(configuration.begin, daemon, peer))


def routes(daemon: Daemon) -> Routes:
    """Every method that is served."""
    served = {name: route for topic in TOPICS for name, route in topic.routes(daemon).items()}
    return {**SYNC, **served}
