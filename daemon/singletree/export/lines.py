"""The active branch as a session file of its own, as pi exports one.

The same entries with the same ids, each after the one before it; labels stand at the end, and a
name that was given on another branch comes along. Never writes a file. Read next:
../history/forking.py, which forks the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from singletree.history.entries import SessionInfoEntry, dump, iso_now
from singletree.history.jsonl import decode
from singletree.history.record import History


def json_lines(history: History) -> Iterator[str]:
    """The lines of the file, header first."""
    header = history.header.model_copy(update={"timestamp": iso_now(), "parent_session": None})
    yield dump(header).decode().rstrip("\n")
    above: str | None = None
    name: object = None
    for line in history.path_lines(history.leaf):
        yield line.decode().rstrip("\n")
        data = decode(line) or {}
        identity = data.get("id")
        above = identity if isinstance(identity, str) else above
        name = data.get("name") if data.get("type") == "session_info" else name
    if history.name and history.name != name:
        info = SessionInfoEntry(
            id=history.mint(), parent_id=above, timestamp=iso_now(), name=history.name
        )
        yield dump(info).decode().rstrip("\n")
