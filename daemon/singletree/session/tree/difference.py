"""What two places of a tree do not have in common: entries on either side, files they touched.

Changes nothing and asks no model. Reads the entries of both sides: call it in a worker thread. Read
next: navigation.py (going there).
"""

from __future__ import annotations

from dataclasses import dataclass

from singletree.compaction.branch import prepare_branch
from singletree.history.reading import Reading


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


def _side(history: Reading, ids: list[str]) -> Side:
    files = prepare_branch(history.entries(ids=ids).entries, None).files
    return Side(tuple(ids), files.read_files, files.modified_files)
