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
    counted = path[start:]
    speaks = [_speaks(kind) for kind in index.kinds]
    said = sum(map(speaks.__getitem__, map(index.codes.__getitem__, counted)))
    for at in _backwards(index, counted, lambda kind: kind.type == "branch_summary"):
        entry = bodies.get(counted[at], keep=False)
        said += isinstance(entry, BranchSummaryEntry) and bool(entry.summary)
    return said + (newest is not None) - _hidden(index, bodies, counted)


def _hidden(index: Index, bodies: Bodies, path: Sequence[int]) -> int:
    """How many entries of a path its last edits hide."""
    hidden: dict[int, bool] = {}
    for at in _backwards(index, path, lambda kind: kind.type == "context_edit"):
        edit = bodies.get(path[at])
        if isinstance(edit, ContextEditEntry):
            target = index.row_of.get(edit.target_id, NO_ROW)
            if target in path[:at] and _editable(index.kind(target)):
                hidden.setdefault(target, edit.replacement is None)
    return sum(hidden.values())


def _kept(index: Index, bodies: Bodies, path: Sequence[int]) -> tuple[int, int | None]:
    """Where in a path the context begins, and where its newest compaction stands."""
    for at in _backwards(index, path, lambda kind: kind.type == "compaction"):
        compaction = bodies.get(path[at])
        if isinstance(compaction, CompactionEntry):
            kept = compaction.first_kept_entry_id
            older = [index.ids[row] for row in path[:at]]
            return (older.index(kept) if kept in older else at), at
    return 0, None


def _backwards(index: Index, path: Sequence[int], wanted: Callable[[Kind], bool]) -> Iterator[int]:
    """The places on a path where kinds stand that are wanted, the last one first."""
    codes = {code for code, kind in enumerate(index.kinds) if wanted(kind)}
    if codes:
        code_of = index.codes
        yield from (n for n in reversed(range(len(path))) if code_of[path[n]] in codes)


def _speaks(kind: Kind) -> bool:
    return kind.role in _ROLES or kind.type == "custom_message"


def _editable(kind: Kind) -> bool:
    """Whether an edit can hide what such an entry says."""
    return kind.type == "custom_message" or (kind.role in _ROLES and kind.role != "bashExecution")


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
    for place in _backwards(index, path, lambda kind: kind in kinds):
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
