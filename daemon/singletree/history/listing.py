"""What a list of sessions shows of each, read as cheaply as it can be.

A glance reads a file's beginning and end and is enough to sort by; a summary reads its heads; a
search reads its lines and decodes few of them. Never opens a session for writing. Read next:
shelf.py (which asks for them).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from singletree.errors import SessionUnreadable
from singletree.history.bodies import Bodies
from singletree.history.entries import SessionHeader, iso_to_ms
from singletree.history.jsonl import Json, decode
from singletree.history.preview import preview, spoken
from singletree.history.reading import Reading
from singletree.history.recovery import read_header, recover
from singletree.history.tree import SessionTree
from singletree.pathtext import is_folder

_STEP = 64 * 1024
_END_OF_TIME = 253_402_300_800_000
"""Milliseconds up to the year 10000: what is no date until then is none."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One session in a list. Times are milliseconds since the epoch.

    `moved`: the folder it was made in is gone, so it is offered elsewhere too.
    """

    id: str
    path: Path
    cwd: str
    name: str | None
    preview: str
    created_at: int
    updated_at: int
    entry_count: int
    leaf_preview: str
    parent: str | None
    moved: bool


@dataclass(frozen=True, slots=True)
class Glance:
    """Enough to sort and filter by."""

    path: Path
    header: SessionHeader
    updated_at: int


def glance(path: Path) -> Glance | None:
    """Header and time of the last message; None where the file is no session."""
    try:
        header = read_header(path)
        written = path.stat().st_mtime_ns
        with path.open("rb") as file:
            said = next((when for when in map(_said_at, _backwards(file)) if when), 0)
    except (SessionUnreadable, OSError):
        return None
    updated = said or iso_to_ms(header.timestamp) or written // 1_000_000
    return Glance(path, header, updated)


def summarize(known: Glance) -> Summary:
    """All that a list shows."""
    path, header = known.path, known.header
    with path.open("rb") as file:
        handle = file.fileno()
        found = recover(path)
        tree = SessionTree(found.index)
        content = found.upgraded

        def read(offset: int, size: int) -> bytes:
            if content is not None:
                return content[offset : offset + size]
            return os.pread(handle, size, offset)

        bodies = Bodies(tree, read)
        first = _first_said(tree, bodies, tree.rows(), ("user",))
        last = _first_said(tree, bodies, tree.up(tree.leaf_row), ("user", "assistant"))
    return Summary(
        header.id,
        path,
        header.cwd,
        tree.name,
        first,
        iso_to_ms(header.timestamp),
        known.updated_at,
        tree.count,
        last,
        header.parent_session,
        bool(header.cwd) and not is_folder(header.cwd),
    )


def unsaid(history: Reading) -> Summary:
    """A session in which nothing was said yet: `path` is where its file will be."""
    header, begun = history.header, iso_to_ms(history.header.timestamp)
    return Summary(
        header.id,
        history.file or Path(),
        header.cwd,
        history.name,
        "",
        begun,
        begun,
        history.entry_count,
        "",
        header.parent_session,
        moved=False,
    )


def found(path: Path, tokens: Sequence[str]) -> bool:
    """Whether each token occurs in the texts or names of a session.

    Only lines that may hold one are decoded.
    """
    missing = set(tokens)
    plain = {token for token in tokens if token.isalnum()}
    with path.open("rb") as file:
        for raw in file:
            if not missing:
                return True
            if b"\\u" not in raw and missing <= plain:
                low = raw.decode(errors="replace").lower()
                if not any(token in low for token in missing):
                    continue
            data = decode(raw)
            if data is not None:
                said = " ".join(_said(data)).lower()
                missing = {token for token in missing if token not in said}
    return not missing


def _said(data: Json) -> Iterator[str]:
    message = data.get("message")
    if data.get("type") == "message" and isinstance(message, dict):
        if message.get("role") in ("user", "assistant"):
            text = spoken(message.get("content"), " ")
            if text:
                yield text
    elif data.get("type") == "session_info" and isinstance(data.get("name"), str):
        yield str(data["name"])


def _first_said(
    tree: SessionTree, bodies: Bodies, rows: Iterator[int], roles: Sequence[str]
) -> str:
    for row in rows:
        if tree.index.kind(row).role in roles:
            text = preview(bodies.json(row) or {})
            if text:
                return text
    return ""


def _said_at(raw: bytes) -> int:
    """When a user or a model said this; 0 for any other line."""
    data = decode(raw)
    message = None if data is None else data.get("message")
    if data is None or not isinstance(message, dict):
        return 0
    if data.get("type") != "message" or message.get("role") not in ("user", "assistant"):
        return 0
    when, written = message.get("timestamp"), data.get("timestamp")
    if isinstance(when, int | float) and 0 < when < _END_OF_TIME:
        return int(when)
    return iso_to_ms(written) if isinstance(written, str) else 0


def _backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, the last one first."""
    end = file.seek(0, os.SEEK_END)
    rest = b""
    while end > 0:
        start = max(0, end - max(_STEP, len(rest)))
        file.seek(start)
        lines = (file.read(end - start) + rest).split(b"\n")
        end, rest = start, lines[0]
        yield from reversed(lines[1:])
    yield rest
