"""Settings: those of files over the wire, and the editor's own, which stand above them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from singletree.errors import SettingsError, SingletreeError
from singletree.rpc.daemon import Daemon
from singletree.rpc.lsp.configuration import pull, subscribe
from singletree.rpc.lsp.watching import watch
from singletree.rpc.own_settings import settings_in
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.settings import SettingsGetParams, SettingsResult, SettingsSetParams
from singletree.rpc.routes import Call, Route, Routes
from singletree.session.session import AgentSession
from singletree.session.settings.layers import Layers, Scope, read_layers, set_value, settings_path
from singletree.session.settings.schema import schema_of
from singletree.session.settings.trust import gated, save_trust, trust_of

UNSAVED = "{path} has unsaved changes in the editor. Save it first; nothing was written."
UNTRUSTED = "The workspace is not trusted, so its settings do not count. Nothing was written."
NO_SESSION = "Settings of a workspace belong to a session: open one, or name it."
UNKNOWN = 'There is no setting "{key}".'


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/settings/get": Route(SettingsGetParams, partial(_get, daemon)),
        "agent/settings/set": Route(SettingsSetParams, partial(_set_, daemon)),
        "workspace/didChangeConfiguration": Route(dict, partial(_changed, daemon)),
    }


async def begin(daemon: Daemon, peer: Peer) -> None:
    """A client is ready to be asked for its settings."""
    async with anyio.create_task_group() as asking:  # one that is not answered holds up none
        asking.start_soon(_pull, daemon, peer)
        asking.start_soon(subscribe, peer)
        asking.start_soon(watch, peer, daemon.options.agent_dir)


async def write(
    daemon: Daemon, session: AgentSession | None, key: str, value: Any, scope: Scope
) -> None:
    """Write a setting to the file of a scope; it counts at once."""
    if scope == "workspace" and session is None:
        raise SingletreeError(NO_SESSION, code="no_workspace")
    if scope == "workspace" and session is not None and not session.state().trusted:
        raise SingletreeError(UNTRUSTED, code="untrusted_workspace")
    path = settings_path(daemon.options.agent_dir, session.cwd if session else None, scope)
    if session is not None:
        stat = await session.gate.world.files.stat(path)
        if stat is not None and stat.dirty:
            raise SettingsError(UNSAVED.format(path=path))
    write = partial(set_value, path, key, value, scope)
    if scope == "workspace" and session is not None and daemon.options.trust is None:
        write = partial(_as_its_own, daemon.options.agent_dir, session.cwd, write)
    await anyio.to_thread.run_sync(write)
    for one in daemon.host.live:
        if scope == "user" or (session is not None and one.cwd == session.cwd):
            await one.refresh()


def _as_its_own(agent_dir: Path, workspace: Path, write: Callable[[], None]) -> None:
    """Write the first thing that a folder brings along: a person's, who so trusts it."""
    first = not any(gated(workspace))
    write()
    if first and trust_of(agent_dir, workspace).why == "undecided":
        save_trust(agent_dir, workspace, True)


async def _get(daemon: Daemon, params: SettingsGetParams, call: Call) -> SettingsResult:
    session = await daemon.session_or_none(params, call)
    if session is not None:
        await session.refresh()
    return await _told(daemon, session, params.key)


async def _set_(daemon: Daemon, params: SettingsSetParams, call: Call) -> SettingsResult:
    session = await daemon.session_or_none(params, call)
    if await anyio.to_thread.run_sync(schema_of, params.key) is None:
        raise SettingsError(UNKNOWN.format(key=params.key), code="not_found")
    await write(daemon, session, params.key, params.value, params.scope)
    return await _told(daemon, session, params.key)


async def _told(daemon: Daemon, session: AgentSession | None, key: str) -> SettingsResult:
    layers = session.layers if session else await _user(daemon)
    source = layers.source_of(key)
    return SettingsResult(
        key=key,
        value=layers.value_of(key),
        source="editor" if source == "override" else source,
        json_schema=await anyio.to_thread.run_sync(schema_of, key),
    )


async def _user(daemon: Daemon) -> Layers:
    """Without a session: the user's, and what the daemon was started with."""
    given = daemon.options.settings or None
    return await anyio.to_thread.run_sync(read_layers, daemon.options.agent_dir, None, given)


async def _changed(daemon: Daemon, params: dict[str, Any], call: Call) -> None:
    """They come with it, or are asked for."""
    told = settings_in(params.get("settings"))
    if told is None:
        await _pull(daemon, call.peer)
        return
    call.peer.settings.general = told
    call.peer.settings.by_folder.clear()
    await _refresh(daemon, call.peer)


async def _pull(daemon: Daemon, peer: Peer) -> None:
    folders: dict[str, Path] = daemon.folders_of(peer)
    if await pull(peer, folders):
        await _refresh(daemon, peer)


async def _refresh(daemon: Daemon, peer: Peer) -> None:
    """The client's sessions look at their settings again."""
    for session in daemon.sessions_of(peer):
        await session.refresh()
