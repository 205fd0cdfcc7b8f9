"""Keys and logins of providers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import Method, Params, Result, Shape


class AuthParams(Params):
    """One provider, or all."""

    provider: str | None = None


class AuthRow(Shape):
    """How a provider is reached. `source`: `env`, `auth.json`, `login`; the key is never told."""

    provider: str
    status: Literal["configured", "missing", "notNeeded"]
    source: str | None = None
    methods: list[str] = Field(default_factory=list)


class AuthStatus(Result):
    """All providers that were asked for."""

    providers: list[AuthRow]


class LoginParams(Params):
    """Which provider, and how. Progress goes to `workDoneToken`."""

    provider: str
    method: str
    work_done_token: int | str | None = None


class LogoutParams(Params):
    """Which provider."""

    provider: str


METHODS = (
    Method(
        "agent/auth/status",
        AuthParams,
        AuthStatus,
        "Which providers have a key.",
        since=None,
    ),
    Method(
        "agent/auth/login",
        LoginParams,
        AuthStatus,
        "Log in; a page to open comes as `window/showDocument`.",
        errors=("auth_failed", "not_found", "unsupported"),
        since=None,
    ),
    Method(
        "agent/auth/logout",
        LogoutParams,
        AuthStatus,
        "Forget the key.",
        errors=("not_found",),
        since=None,
    ),
)
