"""`initialize`: what the client says of itself, and what we answer.

Only the standard library and no imports of ours, for the answer is given before anything heavy is
loaded. Whatever is declared here is declared for every session and workspace. Never knows pygls:
that our static capabilities are those it would compute is a test. Read next: early.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from singletree import __version__

log = logging.getLogger(__name__)

Encoding = Literal["utf-8", "utf-16", "utf-32"]

PROTOCOL_VERSIONS = (1,)
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


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
    wants_deltas: bool = True
    latency: float = 0.033
    event_kinds: frozenset[str] | None = None

    @property
    def speaks_agent(self) -> bool:
        """It declared something: more than a plain LSP host."""
        return bool(self.agent)


def read_client(params: Mapping[str, Any]) -> Client:
    """The client of `initialize`. Lenient: a wrong option is as good as none, and is logged."""
    info = _object(params, "clientInfo")
    capabilities = _object(params, "capabilities")
    options = _object(params, "initializationOptions")
    agent = _object(options, "agent") or _object(_object(capabilities, "experimental"), "agent")
    events = _object(agent, "events")
    latency = _value(events, "maxLatencyMs", (int, float), 33)
    kinds = _value(events, "kinds", list, None)
    return Client(
        name=_value(info, "name", str, ""),
        version=_value(info, "version", str, ""),
        process_id=_value(params, "processId", int, None),
        encoding=_encoding(capabilities),
        folders=_folders(params),
        params=params,
        capabilities=capabilities,
        agent=agent,
        agent_version=_common_version(agent),
        wants_deltas=_value(events, "delta", bool, True),
        latency=min(max(latency, 0), 10_000) / 1000,
        event_kinds=None if kinds is None else frozenset(k for k in kinds if isinstance(k, str)),
    )


def answer(client: Client, agent: Mapping[str, object]) -> dict[str, object]:
    """The result of `initialize`. `agent` is what the daemon declares besides the version."""
    return {
        "capabilities": {
            "positionEncoding": client.encoding,
            "textDocumentSync": {
                "openClose": True,
                "change": 2,
                "save": {"includeText": False},
            },
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            "experimental": {
                "agent": {
                    "protocolVersion": client.agent_version,
                    "supported": list(PROTOCOL_VERSIONS),
                    **agent,
                }
            },
        },
        "serverInfo": {"name": "singletree", "version": __version__},
    }


def _encoding(capabilities: Mapping[str, Any]) -> Encoding:
    wanted = _value(_object(capabilities, "general"), "positionEncodings", list, [])
    return next((ours for e in wanted for ours in ENCODINGS if e == ours), "utf-16")


def _common_version(agent: Mapping[str, Any]) -> int | None:
    wanted = _value(agent, "protocolVersions", list, list(PROTOCOL_VERSIONS))
    return next((v for v in wanted if v in PROTOCOL_VERSIONS), None)


def _folders(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Folder URIs; the older single roots count where there is no list of folders."""
    listed = _value(params, "workspaceFolders", list, None)
    if listed is not None:
        found = [f.get("uri") for f in listed if isinstance(f, dict)]
        return tuple(uri for uri in found if isinstance(uri, str))
    if root := _value(params, "rootUri", str, ""):
        return (root,)
    if path := _value(params, "rootPath", str, ""):
        from pathlib import Path

        return (Path(path).as_uri(),) if Path(path).is_absolute() else ()
    return ()


def _object(where: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return _value(where, name, dict, {})  # type: ignore[no-any-return]  # JSON from outside


def _value(where: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    value = where.get(name)
    if value is None:
        return default
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    log.warning("initialize: %s has a wrong type and is not used", name)
    return default
