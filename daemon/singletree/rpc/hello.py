"""The answer to `initialize`, from what it says alone.

Imports nothing but names: the answer is given before anything else is loaded. What is declared here
is declared for every session and workspace. Never knows pygls: that it would compute the same is a
test. Read next: doors/early.py (who answers), client.py (the rest of what `initialize` says).
"""

from __future__ import annotations

from singletree import __version__
from singletree.rpc.offered import ACTION_KINDS, COMMANDS, SCHEMES

TYPE_CHECKING = False  # importing typing for it would cost some milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROTOCOL_VERSIONS = (1,)
ENCODINGS = ("utf-8", "utf-16", "utf-32")

CAPABILITIES: Mapping[str, object] = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
    "codeActionProvider": {"codeActionKinds": list(ACTION_KINDS)},
    "executeCommandProvider": {"commands": list(COMMANDS)},
    "workspace": {
        "workspaceFolders": {"supported": True, "changeNotifications": True},
        "textDocumentContent": {"schemes": list(SCHEMES)},
    },
}
"""The standard capabilities, the same for every client."""


def answer(params: Mapping[str, Any], agent: Mapping[str, object]) -> dict[str, object]:
    """The result of `initialize`. `agent` is what the daemon declares besides the version."""
    return {
        "capabilities": {
            **CAPABILITIES,
            "positionEncoding": encoding_for(params),
            "experimental": {
                "agent": {
                    "protocolVersion": version_for(params),
                    "supported": list(PROTOCOL_VERSIONS),
                    **agent,
                }
            },
        },
        "serverInfo": {"name": "singletree", "version": __version__},
    }


def encoding_for(params: Mapping[str, Any]) -> str:
    """The first encoding of characters that the client offers and we know."""
    general = part(part(params, "capabilities"), "general")
    offered = general.get("positionEncodings")
    known = [e for e in offered if e in ENCODINGS] if isinstance(offered, list) else []
    return known[0] if known else "utf-16"


def version_for(params: Mapping[str, Any]) -> int | None:
    """The first version of the agent protocol that both speak; None: there is none."""
    wanted = agent_block(params).get("protocolVersions")
    if not isinstance(wanted, list):
        return PROTOCOL_VERSIONS[0]
    return next((ours for v in wanted for ours in PROTOCOL_VERSIONS if v == ours), None)


def agent_block(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the client says of itself as an agent's client, in whichever place it can."""
    options = part(part(params, "initializationOptions"), "agent")
    return options or part(part(part(params, "capabilities"), "experimental"), "agent")


def part(where: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object in an object; anything else counts as an empty one."""
    value = where.get(name)
    return value if isinstance(value, dict) else {}
