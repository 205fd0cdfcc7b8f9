"""Lets sessions go that nobody has heard for a while, in a daemon that many clients share.

Such a daemon may live for weeks, and each open session holds its file's lock and its memory. What
runs is never let go; what was let go is opened again where it was. Read next: daemon.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from singletree.rpc.daemon import Daemon

LEAST_SECONDS: Final = 0.1
NEVER_SECONDS: Final = 600.0
"""Between two looks at the setting, while it says never."""


async def let_go_unheard(daemon: Daemon, idle: Callable[[], float]) -> None:
    """Close what was quiet at two looks in a row, `idle` seconds apart; until cancelled."""
    before: frozenset[str] = frozenset()
    while True:
        seconds = idle()
        await anyio.sleep(max(seconds, LEAST_SECONDS) if seconds else NEVER_SECONDS)
        quiet = quiet_sessions(daemon) if seconds else frozenset()
        for session in daemon.host.live:
            if session.id in before & quiet and session.id in quiet_sessions(daemon):
                await daemon.close(session)
        before = quiet


def quiet_sessions(daemon: Daemon) -> frozenset[str]:
    """The sessions in which nothing runs and which no client hears."""
    live = daemon.host.live
    return frozenset(one.id for one in live if not one.busy and not daemon.hearing(one.id))
