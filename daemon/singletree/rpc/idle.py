"""Closes sessions that are idle and without a client, in a daemon that many clients share.

Such a daemon may live for weeks, and each open session holds its file's lock and its memory. What
runs is never closed; what was closed is opened again where it was. Read next: daemon.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from singletree.rpc.daemon import Daemon

LEAST_SECONDS: Final = 0.1
NEVER_SECONDS: Final = 600.0
"""Between two looks at the setting, while it says never."""


async def close_idle(daemon: Daemon, idle: Callable[[], float]) -> None:
    """Close what was idle at two looks in a row, `idle` seconds apart; until cancelled."""
    before: frozenset[str] = frozenset()
    while True:
        seconds = idle()
        await anyio.sleep(max(seconds, LEAST_SECONDS) if seconds else NEVER_SECONDS)
        now = idle_sessions(daemon) if seconds else frozenset()
        for session in daemon.host.live:
            if session.id in before & now and session.id in idle_sessions(daemon):
                await daemon.close(session)
        before = now


def idle_sessions(daemon: Daemon) -> frozenset[str]:
    """The sessions in which nothing runs and to which no client is subscribed."""
    live = daemon.host.live
    return frozenset(one.id for one in live if not one.busy and not daemon.subscribers(one.id))
