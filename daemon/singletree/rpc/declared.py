"""What `initialize` declares of the agent. Data only, for it stands in the first answer.

Read next: hello.py (the rest of that answer), published.py (made from the contract).
"""

from __future__ import annotations

from singletree.rpc import limits
from singletree.rpc.published import METHODS, SCHEMA_HASH


def declare() -> dict[str, object]:
    """What `initialize` declares of the agent (protocol.md, initialize)."""
    return {
        "schemaHash": SCHEMA_HASH,
        "methods": list(METHODS),
        "sessions": {"list": {}, "fork": {}, "delete": {}, "export": {}},
        "tree": {
            "navigate": {},
            "label": {},
            "filters": ["default", "noTools", "userOnly", "labeled", "all"],
        },
        "steer": {},
        "queue": {"update": {}, "reorder": {}},
        "compact": {},
        "permissions": {"scopes": ["once", "session", "workspace", "user"]},
        "contentKinds": [
            "text",
            "image",
            "resource_link",
            "resource",
            "selection",
            "diagnostic",
            "fileMention",
        ],
        "limits": {
            "maxMessageBytes": limits.MAX_MESSAGE,
            "maxOutboundBytes": limits.MAX_OUTBOUND,
            "maxDeltaBytes": limits.MAX_DELTA,
            "maxOpenRequests": limits.MAX_OPEN,
            "ringEvents": limits.RING_EVENTS,
        },
    }
