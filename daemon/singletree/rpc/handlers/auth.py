"""Keys of providers: which there are, keep one, forget one. A key goes in and never comes out."""

from __future__ import annotations

from functools import partial
from typing import Literal

import anyio.to_thread

from singletree.errors import SingletreeError
from singletree.model.catalog import AuthStatus as Known
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.auth import AuthParams, AuthRow, AuthStatus, LoginParams, LogoutParams
from singletree.rpc.routes import Call, Route, Routes

METHOD = "api_key"


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/auth/status": Route(AuthParams, partial(_status, daemon)),
        "agent/auth/login": Route(LoginParams, partial(_login, daemon)),
        "agent/auth/logout": Route(LogoutParams, partial(_logout, daemon)),
    }


async def _status(daemon: Daemon, params: AuthParams, call: Call) -> AuthStatus:
    return await _rows(daemon, params.provider)


async def _login(daemon: Daemon, params: LoginParams, call: Call) -> AuthStatus:
    if not params.key.strip():
        raise SingletreeError("The key is empty; put it into `key`.", code="input_empty")
    await _rows(daemon, params.provider)
    catalog = daemon.host.assembly.catalog
    await anyio.to_thread.run_sync(catalog.set_key, params.provider, params.key)
    daemon.host.look_again()
    return await _rows(daemon, params.provider)


async def _logout(daemon: Daemon, params: LogoutParams, call: Call) -> AuthStatus:
    await _rows(daemon, params.provider)
    await anyio.to_thread.run_sync(daemon.host.assembly.catalog.remove_key, params.provider)
    daemon.host.look_again()
    return await _rows(daemon, params.provider)


async def _rows(daemon: Daemon, provider: str | None) -> AuthStatus:
    known = await anyio.to_thread.run_sync(daemon.host.assembly.catalog.auth_status)
    rows = [_row(one) for one in known if provider in (None, one.provider)]
    if provider is not None and not rows:
        raise SingletreeError(
            f"There is no provider {provider}; models.json may define one.", code="not_found"
        )
    return AuthStatus(providers=rows)


def _row(one: Known) -> AuthRow:
    status: Literal["configured", "missing", "notNeeded"] = "configured"
    if one.source is None:
        status = "missing" if one.needed else "notNeeded"
    return AuthRow(
        provider=one.provider,
        status=status,
        source=one.source,
        methods=[METHOD],
        variables=list(one.variables),
    )
