"""What client and daemon tell each other in `initialize`.

The client: `initializationOptions.agent`, or `capabilities.experimental.agent`, equal in meaning.
The daemon: `capabilities.experimental.agent` of the result.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import JsonObject, Shape
from singletree.rpc.protocol.permission import PermissionScope
from singletree.rpc.protocol.tree import TreeFilter
from singletree.rpc.protocol.ui import DialogKind


class Present(Shape):
    """An empty object: this is supported."""


class ClientEvents(Shape):
    """How the client wants to hear. `kinds`: only these event types; absent: all.

    Deltas are joined for up to `maxLatencyMs`.
    """

    delta: bool = True
    max_latency_ms: int = 33
    kinds: list[str] | None = None


class ClientUi(Shape):
    """What the client can put before a person."""

    dialogs: list[DialogKind] = Field(default_factory=list)
    status: Present | None = None
    widgets: Present | None = None
    notify: Present | None = None


class ClientEditor(Shape):
    """What the editor can do with documents.

    `applyEdit`: edits of open documents, of all, or of none go through the editor.
    """

    apply_edit: Literal["open", "all", "none"] = "open"
    read: Present | None = None
    save: Present | None = None


class ClientAgent(Shape):
    """What the client declares. All of it may be missing: then it is a plain LSP host.

    `protocolVersions`: preferred first. `settings`: the editor's own settings for the agent, with
    the keys of settings.json, above all files.
    """

    protocol_versions: list[int] = Field(default_factory=lambda: [1])
    client_id: str | None = None
    events: ClientEvents = Field(default_factory=lambda: ClientEvents())
    permissions: Present | None = None
    ui: ClientUi = Field(default_factory=lambda: ClientUi())
    editor: ClientEditor = Field(default_factory=lambda: ClientEditor())
    settings: JsonObject | None = None
    experimental: bool = False


class SessionAbilities(Shape):
    """What can be done with sessions."""

    list: Present | None = None
    fork: Present | None = None
    delete: Present | None = None
    export: Present | None = None


class TreeAbilities(Shape):
    """What can be done with the tree."""

    navigate: Present | None = None
    label: Present | None = None
    filters: list[TreeFilter]


class QueueAbilities(Shape):
    """What can be done with waiting texts."""

    update: Present | None = None
    reorder: Present | None = None


class PermissionAbilities(Shape):
    """For how long an answer can be remembered."""

    scopes: list[PermissionScope]


class Limits(Shape):
    """Bytes in, bytes out, bytes of a joined delta, requests open at once, events kept."""

    max_message_bytes: int
    max_outbound_bytes: int
    max_delta_bytes: int
    max_open_requests: int
    ring_events: int


class ServerAgent(Shape):
    """What the daemon answers. `protocolVersion` null: no common one, `supported` lists ours.

    `schemaHash` changes when anything in the published schema does.
    """

    protocol_version: int | None
    supported: list[int]
    schema_hash: str
    methods: list[str]
    sessions: SessionAbilities
    tree: TreeAbilities
    steer: Present | None = None
    queue: QueueAbilities
    compact: Present | None = None
    permissions: PermissionAbilities
    content_kinds: list[str]
    limits: Limits
    experimental: list[str] = Field(default_factory=list)
