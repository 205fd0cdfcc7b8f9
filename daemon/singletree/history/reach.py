"""How much of a path its context needs: a long session is not read whole for every request.

What stands before the newest compaction's kept part counts only for the model and the thinking
level it set. Works on rows, reads a handful of bodies, never makes a message. Read next:
reading.py (which asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from singletree.history.bodies import Bodies
from singletree.history.entries import (
    CompactionEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from singletree.history.index import Index, Kind
from singletree.messages import AssistantMessage, ThinkingLevel

_LEVELS = get_args(ThinkingLevel)
_MODEL = (Kind("message", "assistant"), Kind("model_change"))
_LEVEL = (Kind("thinking_level_change"),)


def needed(index: Index, bodies: Bodies, path: Sequence[int]) -> list[int]:
    """Those rows of a path (root first) that can matter to its context."""
    at = next((n for n in reversed(range(len(path))) if _compacts(index, bodies, path[n])), None)
    if at is None:
        return list(path)
    compaction = bodies.get(path[at])
    kept = compaction.first_kept_entry_id if isinstance(compaction, CompactionEntry) else None
    start = next((n for n in range(at) if index.ids[path[n]] == kept), at)
    model = _last(path[:start], index, bodies, _MODEL, _sets_model)
    level = _last(path[:start], index, bodies, _LEVEL, _sets_level)
    return [path[n] for n in sorted({*model, *level})] + list(path[start:])


def _compacts(index: Index, bodies: Bodies, row: int) -> bool:
    if index.kind(row).type != "compaction":
        return False
    return isinstance(bodies.get(row), CompactionEntry)


def _last(
    path: Sequence[int],
    index: Index,
    bodies: Bodies,
    kinds: Sequence[Kind],
    sets: Callable[[Entry], bool],
) -> Iterator[int]:
    """The last place on a path whose entry is of these kinds and sets something, if there is one.

    A body may not be what its head says, so it is looked at.
    """
    for place in reversed(range(len(path))):
        if index.kind(path[place]) in kinds:
            entry = bodies.get(path[place])
            if entry is not None and sets(entry):
                yield place
                return


def _sets_model(entry: Entry) -> bool:
    if isinstance(entry, MessageEntry):
        return isinstance(entry.message, AssistantMessage)
    return isinstance(entry, ModelChangeEntry)


def _sets_level(entry: Entry) -> bool:
    return isinstance(entry, ThinkingLevelChangeEntry) and entry.thinking_level in _LEVELS
