"""Versions 1 and 2 of a session file, brought to version 3 in memory.

Version 1 had no ids: entries stood in a line. Version 2 knew `hookMessage` where version 3 says
`custom`. The lines that come in are never changed, nor is any file: log.py writes the outcome into
a copy when the first entry is added. Read next: entries.py (what version 3 looks like).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2s

from pydantic import JsonValue

from singletree.history.entries import SESSION_VERSION
from singletree.history.jsonl import Json


def upgrade(lines: Sequence[Json]) -> list[Json]:
    """The same lines, header first, as version 3. Same lines, same ids: nothing is drawn by lot."""
    header, body = dict(lines[0]), [dict(line) for line in lines[1:]]
    version = header.get("version") or 1
    if not isinstance(version, int) or version >= SESSION_VERSION:
        return [header, *body]
    if version < 2:
        _chain(str(header.get("id")), body)
    for entry in body:
        _rename_role(entry)
    header["version"] = SESSION_VERSION
    return [header, *body]


def _chain(session_id: str, body: list[Json]) -> None:
    """Give each entry an id and the one before it as parent; places become ids."""
    ids: list[str] = []
    taken: set[str] = set()
    for place, entry in enumerate(body, start=1):
        made = _made_id(session_id, place, taken)
        entry["id"] = made
        entry["parentId"] = ids[-1] if ids else None
        ids.append(made)
        taken.add(made)
        if entry.get("type") == "compaction":
            kept = _first_kept(entry.pop("firstKeptEntryIndex", None), ids)
            if kept is not None:
                entry["firstKeptEntryId"] = kept


def _first_kept(place: JsonValue, ids: list[str]) -> str | None:
    """The id at a place of version 1, where the header was place 0."""
    if isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= len(ids):
        return None
    return ids[place - 1]


def _made_id(session_id: str, place: int, taken: set[str]) -> str:
    for salt in range(len(taken) + 1):
        made = blake2s(f"{session_id}:{place}:{salt}".encode(), digest_size=4).hexdigest()
        if made not in taken:
            return made
    raise AssertionError("more ids taken than given")


def _rename_role(entry: Json) -> None:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict):
        return
    if message.get("role") == "hookMessage":
        entry["message"] = {**message, "role": "custom"}
