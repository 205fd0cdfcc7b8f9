"""How much of a path its context needs: a long session is not read whole for every request.

What stands before the newest compaction's kept part counts only for the model and the thinking
level it set. Works on rows, reads a handful of bodies, never makes a message. Read next:
reading.py (which asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from singletree.history.bodies import Bodies
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from singletree.history.index import NO_ROW, Index, Kind
from singletree.messages import LEVELS, AssistantMessage

_MODEL = (Kind("message", "assistant"), Kind("model_change"))
_LEVEL = (Kind("thinking_level_change"),)
_ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom")


def needed(index: Index, bodies: Bodies, path: Sequence[int]) -> list[int]:
    """Those rows of a path (root first) that can matter to its context."""
    start, _ = _kept(index, bodies, path)
    return [*setting(index, bodies, path[:start]), *path[start:]]


def setting(index: Index, bodies: Bodies, path: Sequence[int]) -> list[int]:
    """Those rows of a path that set model and thinking level last."""
    model = _last(path, index, bodies, _MODEL, _sets_model)
    level = _last(path, index, bodies, _LEVEL, _sets_level)
    return [path[n] for n in sorted({*model, *level})]


def speaking(index: Index, bodies: Bodies, path: Sequence[int]) -> int:
    """How many messages a path gives to its context, by the heads of its lines.

    Only bodies of branch summaries (which may be empty) and of context edits are read.
    """
    start, newest = _kept(index, bodies, path)
    said = {row for row in path[start:] if _speaks(index, bodies, row)}
    hidden: dict[int, bool] = {}
    for place, row in enumerate(path[start:]):
        edit = bodies.get(row) if index.kind(row).type == "context_edit" else None
        if isinstance(edit, ContextEditEntry):
            target = index.row_of.get(edit.target_id, NO_ROW)
            if target in path[start : start + place] and _editable(index.kind(target)):
                hidden[target] = edit.replacement is None
    return len(said) + (newest is not None) - sum(hidden.values())


def _kept(index: Index, bodies: Bodies, path: Sequence[int]) -> tuple[int, int | None]:
    """Where in a path the context begins, and where its newest compaction stands."""
    at = next((n for n in reversed(range(len(path))) if _compacts(index, bodies, path[n])), None)
    if at is None:
        return 0, None
    compaction = bodies.get(path[at])
    kept = compaction.first_kept_entry_id if isinstance(compaction, CompactionEntry) else None
    return next((n for n in range(at) if index.ids[path[n]] == kept), at), at


def _speaks(index: Index, bodies: Bodies, row: int) -> bool:
    kind = index.kind(row)
    if kind.type == "branch_summary":
        entry = bodies.get(row, keep=False)
        return isinstance(entry, BranchSummaryEntry) and bool(entry.summary)
    return kind.role in _ROLES or kind.type == "custom_message"


def _editable(kind: Kind) -> bool:
    """Whether an edit can hide what such an entry says."""
    return kind.type == "custom_message" or (kind.role in _ROLES and kind.role != "bashExecution")


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
    return isinstance(entry, ThinkingLevelChangeEntry) and entry.thinking_level in LEVELS
