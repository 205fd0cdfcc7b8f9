"""Addresses of texts that are read by the piece, or looked at in an editor.

    agent://SESSION/transcript.md          what was said on the branch the model sees
    agent://SESSION/tree.txt               the whole tree, an entry a line
    agent://SESSION/entry/ID.md            an entry to read
    agent://SESSION/entry/ID.json          an entry as its record
    agent://SESSION/tool/CALL/output.txt   what a tool call answered
    agent://SESSION/tool/CALL/input.json   its arguments
    agent://SESSION/tool/CALL/changes.diff what it changed
    agent://SESSION/diff/TURN.patch        what a turn changed in files
    agent://SESSION/queue/ID.json          the content of a waiting text

Pure: never looks anything up. Read next: texts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

Kind = Literal[
    "transcript", "tree", "entryText", "entry", "tool", "toolInput", "toolDiff", "diff", "queue"
]

SLICE_BYTES = 131_072
"""What one answer holds at most; even all of it escaped, it fits a message."""

CHANGING: frozenset[Kind] = frozenset(("transcript", "tree", "diff"))
"""Texts that are others as the session goes on."""

_WHOLE: dict[Kind, str] = {"transcript": "/transcript.md", "tree": "/tree.txt"}
"""Texts of a session of which there is one."""

_FORMS: dict[Kind, tuple[str, str]] = {
    "entryText": ("/entry/", ".md"),
    "entry": ("/entry/", ".json"),
    "tool": ("/tool/", "/output.txt"),
    "toolInput": ("/tool/", "/input.json"),
    "toolDiff": ("/tool/", "/changes.diff"),
    "diff": ("/diff/", ".patch"),
    "queue": ("/queue/", ".json"),
}


@dataclass(frozen=True, slots=True)
class Address:
    """What an address names; the texts of a whole session have no id."""

    session_id: str
    kind: Kind
    id: str = ""

    def __str__(self) -> str:
        if self.kind in _WHOLE:
            return f"agent://{self.session_id}{_WHOLE[self.kind]}"
        start, end = _FORMS[self.kind]
        return f"agent://{self.session_id}{start}{quote(self.id, '')}{end}"


def parse(uri: str) -> Address | None:
    """What an address names; None if it is none of ours."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "agent" or not parts.netloc:
        return None
    for kind, path in _WHOLE.items():
        if parts.path == path:
            return Address(parts.netloc, kind)
    for kind, (start, end) in _FORMS.items():
        if parts.path.startswith(start) and parts.path.endswith(end):
            name = parts.path[len(start) : -len(end)]
            if name and "/" not in name:
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
