"""What two places of a tree do not have in common: entries on either side, files they touched.

Changes nothing and asks no model. Reads the lines of both sides and decodes those that name files:
call it in a worker thread. Read next: navigation.py (going there).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from singletree.compaction.touched import Touched
from singletree.history.index import Kind
from singletree.history.jsonl import decode
from singletree.history.reading import Reading

_ANSWER = Kind("message", "assistant")
_SUMMARIES = (Kind("compaction"), Kind("branch_summary"))


@dataclass(frozen=True, slots=True)
class Side:
    """Entries from where the paths meet to one of the places, oldest first."""

    entry_ids: tuple[str, ...]
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two places. `ancestor_id`: the last entry of both paths; None where they share none."""

    ancestor_id: str | None
    abandoned: Side
    gained: Side


def difference(history: Reading, here: str, there: str) -> Difference:
    """What going from one entry to another would leave and gain."""
    tree = history.tree
    return Difference(
        tree.ancestor(here, there),
        _side(history, tree.left_behind(here, there)),
        _side(history, tree.left_behind(there, here)),
    )


def _side(history: Reading, ids: Sequence[str]) -> Side:
    files = Touched.called(_calls(history, ids))
    for _, line in history.lines(ids, _SUMMARIES):
        entry = decode(line) or {}
        if not entry.get("fromHook"):
            files |= Touched.told(entry.get("details"))
    return Side(tuple(ids), files.read_files, files.modified_files)


def _calls(history: Reading, ids: Sequence[str]) -> Iterator[tuple[JsonValue, JsonValue]]:
    """The tools that were called, each with the path it was given."""
    for _, line in history.lines(ids, (_ANSWER,)):
        if b'"toolCall"' not in line or b'"path"' not in line:
            continue
        message = (decode(line) or {}).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "toolCall":
                arguments = block.get("arguments")
                path = arguments.get("path") if isinstance(arguments, dict) else None
                yield block.get("name"), path
