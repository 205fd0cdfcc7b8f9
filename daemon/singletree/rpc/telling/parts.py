"""The parts of a session that stream at this moment, and how many pieces each has had.

Counters tell a client where something was left out; the text so far is for one that comes late.
Never knows an event or a client. Read next: translate.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.state import DeltaKind

TAIL = 32_768
"""Characters of a part that are kept for a client that comes late."""


@dataclass(frozen=True, slots=True)
class Key:
    """Which part: of an answer, a tool call, a command or a compaction."""

    item_id: str
    kind: DeltaKind
    part: int = 0


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of text on its way: the `chunk`-th of its part, counted from 0."""

    key: Key
    chunk: int
    text: str


@dataclass(slots=True)
class _Part:
    name: str | None = None
    call_id: str | None = None
    chunks: int = 0
    skipped: int = 0
    length: int = 0
    pieces: list[str] = field(default_factory=list)


class Parts:
    """All that is open, in the order in which it was begun."""

    def __init__(self) -> None:
        self._open: dict[Key, _Part] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._open

    def start(self, key: Key, name: str | None = None, call_id: str | None = None) -> None:
        """Open a part; one that is open already stays as it is."""
        self._open.setdefault(key, _Part(name, call_id))

    def add(self, key: Key, text: str) -> Delta:
        """A piece more of an open part."""
        part = self._open[key]
        part.pieces.append(text)
        part.length += len(text)
        if part.length > 2 * TAIL:
            whole = "".join(part.pieces)
            part.skipped += len(whole) - TAIL
            part.pieces, part.length = [whole[-TAIL:]], TAIL
        part.chunks += 1
        return Delta(key, part.chunks - 1, text)

    def end(self, key: Key) -> str | None:
        """Close it, if it is open; the tool call it belonged to."""
        part = self._open.pop(key, None)
        return part.call_id if part else None

    def keys_of(self, item_id: str | None = None) -> list[Key]:
        """What is open, or what is open of one item."""
        return [k for k in self._open if item_id is None or k.item_id == item_id]

    def in_flight(self) -> list[JsonObject]:
        """Each part with its text so far, as the wire's InFlight."""
        return [_in_flight(key, part) for key, part in self._open.items()]


def _in_flight(key: Key, part: _Part) -> JsonObject:
    made: JsonObject = {
        "itemId": key.item_id,
        "kind": key.kind,
        "part": key.part,
        "to": part.chunks,
        "text": "".join(part.pieces),
    }
    if part.skipped:
        made["skipped"] = part.skipped
    if part.name:
        made["name"] = part.name
    if part.call_id:
        made["toolCallId"] = part.call_id
    return made
