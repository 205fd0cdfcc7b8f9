"""Settings as they stand in files: read one, write one. And whether a folder's own count."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from singletree.rpc.protocol.base import JsonObject, Method, Result, SessionParams
from singletree.rpc.protocol.state import Skipped


class SettingsGetParams(SessionParams):
    """`key` is a path with dots, such as `compaction.reserveTokens`."""

    key: str


class SettingsSetParams(SessionParams):
    """null takes the key away."""

    key: str
    value: JsonValue
    scope: Literal["user", "workspace"] = "user"


class TrustParams(SessionParams):
    """For the session's folder and those below it. null forgets what was decided."""

    trusted: bool | None


class TrustResult(Result):
    """Whether what the folder brings along counts now, and what does not."""

    trusted: bool
    skipped: list[Skipped]


class SettingsResult(Result):
    """The value in force, where it comes from, and its JSON Schema."""

    key: str
    value: JsonValue
    source: Literal["default", "user", "workspace", "editor"]
    json_schema: JsonObject | None = None


METHODS = (
    Method(
        "agent/settings/get",
        SettingsGetParams,
        SettingsResult,
        "The value of a setting and where it comes from.",
        errors=("not_found",),
    ),
    Method(
        "agent/settings/set",
        SettingsSetParams,
        SettingsResult,
        "Write a setting to the user's or the workspace's file.",
        errors=("not_found", "settings_invalid", "untrusted_workspace", "no_workspace"),
    ),
    Method(
        "agent/trust/set",
        TrustParams,
        TrustResult,
        "Decide whether the settings, prompts, skills and extensions count that the folder brings "
        "along. It is kept, and counts at once in every session that is open. Only to be called "
        "when a person says so.",
        errors=("session_not_found", "denied", "settings_invalid"),
    ),
)
