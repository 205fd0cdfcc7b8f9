"""Texts that wait: steering for the next step of a turn, follow-ups for its end.

A queued text is on disk before its request is answered. Every change has a `version`; a change made
on an old version is refused with -32801. Read next: turn.py.
"""

from __future__ import annotations

from typing import Literal

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape
from singletree.rpc.protocol.content import Content, ContentBlock

QueueKind = Literal["steer", "followUp"]
QueueMode = Literal["all", "one-at-a-time"]


class QueueItem(Shape):
    """A text that waits. `paused`: handed back after a crash, not sent by itself."""

    queue_id: str
    kind: QueueKind
    content: list[ContentBlock]
    client_message_id: str | None = None
    paused: bool = False


class Queue(Shape):
    """The whole queue in the order of sending; `version` grows with each change."""

    items: list[QueueItem]
    version: int


class QueueResult(Result):
    """The queue as it is now."""

    items: list[QueueItem]
    version: int


class QueueTaken(QueueResult):
    """The queue as it is now, and what was taken out of it: give the texts back to the person."""

    removed: list[QueueItem]


class QueueUpdateParams(SessionParams):
    """Change a waiting text. `paused: false` lets a paused one go."""

    queue_id: str
    version: int | None = None
    content: Content | None = None
    kind: QueueKind | None = None
    paused: bool | None = None


class QueueRemoveParams(SessionParams):
    """Take texts out."""

    queue_ids: list[str]
    version: int | None = None


class QueueReorderParams(SessionParams):
    """All ids in their new order; fewer are refused as stale."""

    queue_ids: list[str]
    version: int | None = None


class QueueClearParams(SessionParams):
    """Take all out, or all of one kind."""

    kind: QueueKind | None = None
    version: int | None = None


class QueueModeParams(SessionParams):
    """How many texts are handed over at once."""

    kind: QueueKind
    mode: QueueMode


class QueueModeResult(Result):
    """Both modes as they are now."""

    steer: QueueMode
    follow_up: QueueMode


_STALE = ("session_not_found", "not_found", "stale")

METHODS = (
    Method(
        "agent/queue/list",
        SessionParams,
        QueueResult,
        "What waits, in the order of sending.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/queue/update",
        QueueUpdateParams,
        QueueResult,
        "Change the text or the kind of a waiting item, or let a paused one go.",
        errors=(*_STALE, "input_empty"),
    ),
    Method(
        "agent/queue/remove",
        QueueRemoveParams,
        QueueTaken,
        "Take items out; their texts come back.",
        errors=_STALE,
    ),
    Method(
        "agent/queue/reorder",
        QueueReorderParams,
        QueueResult,
        "Give the items another order.",
        errors=_STALE,
    ),
    Method(
        "agent/queue/clear",
        QueueClearParams,
        QueueTaken,
        "Take everything out; the texts come back.",
        errors=("session_not_found", "stale"),
    ),
    Method(
        "agent/queue/mode",
        QueueModeParams,
        QueueModeResult,
        "Hand over all waiting texts of a kind at once, or one at a time.",
        errors=("session_not_found",),
    ),
)
