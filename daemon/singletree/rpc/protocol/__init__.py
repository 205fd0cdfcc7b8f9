"""The contract with every editor: each method, event and shape said once, one file per topic.

protocol.md, the JSON Schema and the types of our own clients are made from here (../describe.py).
A topic is imported when a method of it is asked for, so that a daemon answers its first requests
before it knows all of them. Never knows pygls, a session or a client. Read next: base.py, turn.py.
"""

from __future__ import annotations

from importlib import import_module

from singletree.rpc.protocol.base import PROTOCOL_VERSION, Method, Params, Result, Shape, check

__all__ = [
    "PROTOCOL_VERSION",
    "TOPICS",
    "Method",
    "Params",
    "Result",
    "Shape",
    "check",
    "find",
    "methods",
]

TOPICS = (
    "session",
    "turn",
    "queue",
    "tree",
    "compaction",
    "context",
    "model",
    "config",
    "settings",
    "permission",
    "ui",
    "editor",
    "edits",
    "auth",
    "extensions",
    "usage",
    "events",
)
"""The files that hold methods, in the order in which a reader wants them."""

_HOMES = {
    "prompt": "turn",
    "steer": "turn",
    "followUp": "turn",
    "abort": "turn",
    "bash": "turn",
    "compact": "compaction",
    "content": "context",
    "thinking": "model",
    "command": "config",
    "trust": "settings",
    "request": "permission",
    "extension": "extensions",
    "mcp": "extensions",
    "event": "events",
    "delta": "events",
    "sessions": "events",
}


def find(name: str) -> Method | None:
    """The method of this name; imports nothing but its topic."""
    prefix, _, rest = name.partition("/")
    family = rest.partition("/")[0]
    topic = _HOMES.get(family, family)
    if prefix != "agent" or topic not in TOPICS:
        return None
    return next((m for m in topic_methods(topic) if m.name == name), None)


def topic_methods(topic: str) -> tuple[Method, ...]:
    """The methods of one file."""
    found: tuple[Method, ...] = import_module(f"{__name__}.{topic}").METHODS
    return found


def methods() -> dict[str, Method]:
    """All methods by name, the planned ones too."""
    return {m.name: m for topic in TOPICS for m in topic_methods(topic)}
