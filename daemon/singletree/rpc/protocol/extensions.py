"""Extensions and MCP servers: which are there, and starting them again."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape


class ExtensionRow(Shape):
    """An extension, where it is from and whether it works."""

    name: str
    path: str
    scope: Literal["user", "workspace"]
    status: Literal["loaded", "failed", "skipped"]
    message: str | None = None


class ExtensionList(Result):
    """All extensions."""

    extensions: list[ExtensionRow]


class McpRow(Shape):
    """An MCP server and whether it is reached."""

    name: str
    status: Literal["connected", "connecting", "failed", "disabled"]
    tools: list[str] = Field(default_factory=list)
    message: str | None = None


class McpList(Result):
    """All MCP servers."""

    servers: list[McpRow]


class McpReconnectParams(SessionParams):
    """Which server."""

    name: str


METHODS = (
    Method(
        "agent/extension/list",
        SessionParams,
        ExtensionList,
        "The extensions and whether they work.",
        errors=("session_not_found",),
        since=None,
    ),
    Method(
        "agent/extension/reload",
        SessionParams,
        ExtensionList,
        "Load the extensions anew.",
        errors=("session_not_found", "session_busy"),
        since=None,
    ),
    Method(
        "agent/mcp/list",
        SessionParams,
        McpList,
        "The MCP servers and whether they are reached.",
        errors=("session_not_found",),
        since=None,
    ),
    Method(
        "agent/mcp/reconnect",
        McpReconnectParams,
        McpList,
        "Reach for a server again.",
        errors=("session_not_found", "not_found"),
        since=None,
    ),
)
