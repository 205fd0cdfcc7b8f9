"""Asking an editor for its own settings, and for being told when they change.

Only clients that say they can answer are asked: once for all, and once for each of their folders.
Never decides what a setting means. Read next: ../own_settings.py, ../handlers/configuration.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio

from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.hello import part
from singletree.rpc.own_settings import SECTION
from singletree.rpc.peer import Peer

log = logging.getLogger(__name__)

REGISTRATION: Final = "agent-settings"
ASK_SECONDS: Final = 10.0


async def subscribe(peer: Peer) -> None:
    """Be told of changes, where a client tells only those who ask for it."""
    workspace = part(peer.client.capabilities, "workspace")
    if part(workspace, "didChangeConfiguration").get("dynamicRegistration") is not True:
        return
    wanted = {
        "id": REGISTRATION,
        "method": "workspace/didChangeConfiguration",
        "registerOptions": {"section": SECTION},
    }
    await ask(peer, "client/registerCapability", {"registrations": [wanted]})


async def pull(peer: Peer, folders: Mapping[str, Path]) -> bool:
    """Ask for the settings, of each folder too; whether there was an answer."""
    if part(peer.client.capabilities, "workspace").get("configuration") is not True:
        return False
    items = [{"section": SECTION}, *({"scopeUri": u, "section": SECTION} for u in folders)]
    answer = await ask(peer, "workspace/configuration", {"items": items})
    if not isinstance(answer, list) or len(answer) != len(items):
        return False
    general, *scoped = answer
    if isinstance(general, dict):
        peer.settings.general = general
    told = zip(folders.values(), scoped, strict=True)
    peer.settings.by_folder = {path: value for path, value in told if isinstance(value, dict)}
    return True


async def ask(peer: Peer, method: str, params: object) -> object:
    """The answer; None where there is none. An editor that is slow or refuses goes without."""
    try:
        with anyio.fail_after(ASK_SECONDS):
            return await peer.call(method, params, object)
    except (ClientError, ClientGone, TimeoutError) as error:
        log.info("%s: %s", method, error)
        return None
