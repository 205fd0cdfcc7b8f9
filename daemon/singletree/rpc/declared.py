"""What `initialize` declares of the agent. Data only, for it stands in the first answer.

Read next: hello.py (the rest of that answer), published.py (made from the contract).
"""

from __future__ import annotations

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
            "maxMessageBytes": 32 * 1024 * 1024,
            "maxOutboundBytes": 1024 * 1024,
            "maxDeltaBytes": 64 * 1024,
            "maxOpenRequests": 64,
            "ringEvents": 4096,
        },
    }
