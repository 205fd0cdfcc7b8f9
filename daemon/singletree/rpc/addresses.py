"""Addresses of what is too large for a message, and slices of what stands behind them.

    agent://SESSION/entry/ID.json          an entry as its record
    agent://SESSION/tool/CALL/output.txt   what a tool call answered
    agent://SESSION/tool/CALL/input.json   its arguments
    agent://SESSION/tool/CALL/changes.diff what it changed
    agent://SESSION/queue/ID.json          the content of a waiting text

Pure: never looks anything up. Read next: handlers/content.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

Kind = Literal["entry", "tool", "toolInput", "toolDiff", "queue"]

SLICE_BYTES = 131_072
"""What one answer holds at most; even all of it escaped, it fits a message."""

_FORMS: dict[Kind, tuple[str, str]] = {
    "entry": ("/entry/", ".json"),
    "tool": ("/tool/", "/output.txt"),
    "toolInput": ("/tool/", "/input.json"),
    "toolDiff": ("/tool/", "/changes.diff"),
    "queue": ("/queue/", ".json"),
}


@dataclass(frozen=True, slots=True)
class Address:
    """What an address names."""

    session_id: str
    kind: Kind
    id: str

    def __str__(self) -> str:
        start, end = _FORMS[self.kind]
        return f"agent://{self.session_id}{start}{quote(self.id, '')}{end}"


def parse(uri: str) -> Address | None:
    """What an address names; None if it is none of ours."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    for kind, (start, end) in _FORMS.items():
        if parts.path.startswith(start) and parts.path.endswith(end):
            name = parts.path[len(start) : -len(end)]
            if parts.scheme == "agent" and parts.netloc and name and "/" not in name:
                return Address(parts.netloc, kind, unquote(name))
    return None


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a text; `next` is where the following one begins. Offsets are in bytes."""

    text: str
    size: int
    next: int | None


def cut(text: str, start: int = 0, end: int | None = None) -> Slice:
    """The text's bytes from `start` to `end`, at most SLICE_BYTES, whole characters only."""
    data = text.encode("utf-8", "replace")
    stop = min(len(data) if end is None else end, len(data), start + SLICE_BYTES)
    piece = data[start:stop]
    while 0 < stop < len(data) and data[stop] & 0xC0 == 0x80:
        stop += 1
        piece = data[start:stop]
    return Slice(piece.decode("utf-8", "ignore"), len(data), stop if stop < len(data) else None)
