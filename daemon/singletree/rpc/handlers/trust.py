"""Trust in what a folder brings along: given and taken by people alone.

There is no other way to it: no tool, no extension and no file of a project comes here. Read next:
../../session/settings/trust.py (where it is kept), ../../session/wiring.py (what it changes).
"""

from __future__ import annotations

from functools import partial

import anyio.to_thread

from singletree.errors import SingletreeError
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.settings import TrustParams, TrustResult
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import skipped
from singletree.session.settings.trust import save_trust

FIXED = (
    "This daemon was started with {option}, which counts for every folder. Start it without to "
    "decide on this one."
)


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {"agent/trust/set": Route(TrustParams, partial(_set_, daemon))}


async def _set_(daemon: Daemon, params: TrustParams, call: Call) -> TrustResult:
    session = await daemon.session(params, call)
    if (fixed := daemon.options.trust) is not None:
        option = "--trust" if fixed else "--no-trust"
        raise SingletreeError(FIXED.format(option=option), code="denied")
    agent_dir = daemon.options.agent_dir
    await anyio.to_thread.run_sync(save_trust, agent_dir, session.cwd, params.trusted)
    for one in daemon.host.live:
        await one.refresh()
    state = session.state()
    return TrustResult(trusted=state.trusted, skipped=skipped(state))
