"""Keys and logins of providers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import Method, Params, Result, Shape


class AuthParams(Params):
    """One provider, or all."""

    provider: str | None = None


class AuthRow(Shape):
    """How a provider is reached. `source` says where its key comes from; the key is never told.

    `variables`: environment variables that would be used.
    """

    provider: str
    status: Literal["configured", "missing", "notNeeded"]
    source: str | None = None
    methods: list[str] = Field(default_factory=list)
    variables: list[str] = Field(default_factory=list)


class AuthStatus(Result):
    """All providers that were asked for."""

    providers: list[AuthRow]


class LoginParams(Params):
    """Which provider, and its key, which is kept in `auth.json` for the user alone."""

    provider: str
    method: Literal["api_key"] = "api_key"
    key: str


class LogoutParams(Params):
    """Which provider."""

    provider: str


METHODS = (
    Method(
        "agent/auth/status",
        AuthParams,
        AuthStatus,
        "Which providers have a key.",
        errors=("not_found",),
    ),
    Method(
        "agent/auth/login",
        LoginParams,
        AuthStatus,
        "Keep a key. Whether the provider takes it shows with the next prompt.",
        errors=("not_found", "input_empty", "settings_invalid"),
    ),
    Method(
        "agent/auth/logout",
        LogoutParams,
        AuthStatus,
        "Forget the kept key; one in the environment or in models.json stays.",
        errors=("not_found",),
    ),
)
