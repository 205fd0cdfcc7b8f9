"""Who is at the other end, by its `initialize`.

Lenient: an option of a wrong type counts as absent and is logged, for no editor should stay without
an agent because of one. Never knows what is answered (hello.py).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from singletree.rpc.buffers.text import Encoding
from singletree.rpc.hello import (
    PROTOCOL_VERSIONS,
    agent_block,
    encoding_for,
    part,
    version_for,
)
from singletree.rpc.telling.feed import Delivery

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Client:
    """Who is at the other end. `agent` is its block as sent; wrong values count as absent.

    `params` is the whole of `initialize`, as sent.
    """

    name: str = ""
    version: str = ""
    process_id: int | None = None
    encoding: Encoding = "utf-16"
    folders: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    agent: Mapping[str, Any] = field(default_factory=dict)
    agent_version: int | None = PROTOCOL_VERSIONS[0]
    delivery: Delivery = field(default_factory=Delivery)

    @property
    def speaks_agent(self) -> bool:
        """It declared something: more than a plain LSP host."""
        return bool(self.agent)


def read_client(params: Mapping[str, Any]) -> Client:
    """The client of `initialize`. Lenient: a wrong option is as good as none, and is logged."""
    info, agent = part(params, "clientInfo"), agent_block(params)
    encoding: Any = encoding_for(params)
    return Client(
        name=_value(info, "name", str, ""),
        version=_value(info, "version", str, ""),
        process_id=_value(params, "processId", int, None),
        encoding=encoding,
        folders=_folders(params),
        params=params,
        capabilities=part(params, "capabilities"),
        agent=agent,
        agent_version=version_for(params),
        delivery=_delivery(part(agent, "events")),
    )


def _delivery(events: Mapping[str, Any]) -> Delivery:
    latency = _value(events, "maxLatencyMs", (int, float), 33)
    kinds = _value(events, "kinds", list, None)
    return Delivery(
        deltas=_value(events, "delta", bool, True),
        latency=min(max(latency, 0), 10_000) / 1000,
        kinds=None if kinds is None else frozenset(k for k in kinds if isinstance(k, str)),
    )


def _folders(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Folder URIs; the older single roots count where there is no list of folders."""
    listed = _value(params, "workspaceFolders", list, None)
    if listed is not None:
        found = [f.get("uri") for f in listed if isinstance(f, dict)]
        return tuple(uri for uri in found if isinstance(uri, str))
    if root := _value(params, "rootUri", str, ""):
        return (root,)
    path = Path(_value(params, "rootPath", str, ""))
    return (path.as_uri(),) if path.is_absolute() else ()


def _value(where: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    value = where.get(name)
    if value is None:
        return default
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    log.warning("initialize: %s has a wrong type and is not used", name)
    return default
