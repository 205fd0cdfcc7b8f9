"""What to give up: where a path is cut, what is summarised, what is kept.

The cut never stands between a call and its result. A turn larger than what is kept is split: its
prefix gets a summary of its own. Pure; decides neither when nor with whom. Read next: summary.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from singletree.compaction.budget import context_tokens, estimate
from singletree.compaction.touched import Touched
from singletree.context.projection import project, selected
from singletree.history.entries import (
    LEAF_TYPE,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
)
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
)

_TURN_STARTS = (
    UserMessage,
    BashExecutionMessage,
    CustomMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
)


@dataclass(frozen=True, slots=True)
class Cut:
    """Indices into the entries: the first kept one, and where its turn starts if it is split."""

    first_kept: int
    turn_start: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A compaction to be: `messages` and `prefix` (of a split turn) are to be summarised.

    `touched`: files of these messages and of the previous compaction; `carried`: files that branch
    summaries among them tell of.
    """

    first_kept_id: str
    messages: tuple[AgentMessage, ...]
    prefix: tuple[AgentMessage, ...]
    previous: str | None
    touched: Touched
    carried: Touched
    tokens_before: int
    sources: tuple[str, ...] = ()
    """The entries behind `messages` and `prefix`, in their order."""

    @property
    def split(self) -> bool:
        """Whether a turn is parted by the cut."""
        return bool(self.prefix)

    @property
    def files(self) -> Touched:
        """All files known of."""
        return self.touched | self.carried


def plan(path: Sequence[Entry], keep_recent: int, tokens_before: int | None = None) -> Plan | None:
    """What a compaction of this path would do; None where there is nothing to summarise.

    A path that ends with a compaction is never compacted again. `tokens_before`: the caller's own
    figure (with system prompt and tools); without it the context is measured here.
    """
    if not path or _ends_compacted(path):
        return None
    projection = project(path)
    seen = dict(zip(projection.sources, projection.messages, strict=True))
    line = selected(path)
    previous = line[0] if isinstance(line[0], CompactionEntry) else None
    start = 0 if previous is None else 1
    cut = find_cut(line, seen, start, len(line), keep_recent)
    middle = cut.first_kept if cut.turn_start is None else cut.turn_start
    history = [e for e in line[start:middle] if _summarised(e, seen)]
    prefix = [e for e in line[middle : cut.first_kept] if _summarised(e, seen)]
    if not history and not prefix:
        return None
    if tokens_before is None:
        tokens_before = context_tokens(projection).tokens
    return Plan(
        first_kept_id=line[cut.first_kept].id,
        messages=tuple(seen[e.id] for e in history),
        prefix=tuple(seen[e.id] for e in prefix),
        previous=previous.summary if previous else None,
        touched=_touched([*history, *prefix], seen, previous),
        carried=_carried([*history, *prefix]),
        tokens_before=tokens_before,
        sources=tuple(e.id for e in (*history, *prefix)),
    )


def find_cut(
    entries: Sequence[Entry],
    seen: Mapping[str, AgentMessage],
    start: int,
    end: int,
    keep_recent: int,
) -> Cut:
    """Where to cut `entries[start:end]` so that about `keep_recent` tokens stay.

    `seen`: the message each entry gives to the context. Entries the model does not see, directly
    before the cut, are kept with it.
    """
    valid = _cut_points(entries, seen, start, end)
    if not valid:
        return Cut(start)
    first = valid[0]
    total = 0
    for at in range(end - 1, start - 1, -1):
        message = seen.get(entries[at].id)
        if message is None:
            continue
        total += estimate(message)
        if total >= keep_recent:
            first = next((point for point in valid if point >= at), valid[-1])
            break
    while first > start and _invisible(entries[first - 1], seen):
        first -= 1
    if isinstance(_message(entries[first], seen), _TURN_STARTS):
        return Cut(first)
    for at in range(first - 1, start - 1, -1):
        if isinstance(_message(entries[at], seen), _TURN_STARTS):
            return Cut(first, at)
    return Cut(first)


def _cut_points(
    entries: Sequence[Entry], seen: Mapping[str, AgentMessage], start: int, end: int
) -> list[int]:
    """Indices where a cut parts no call from its result, the first one that comes for it."""
    points: list[int] = []
    waiting: dict[str, int] = {}
    for at in range(start, end):
        message = _message(entries[at], seen)
        if isinstance(message, ToolResultMessage):
            called = waiting.pop(message.tool_call_id, at)
            while points and points[-1] > called:
                points.pop()
        elif message is not None:
            points.append(at)
        if isinstance(message, AssistantMessage):
            waiting.update((call.id, at) for call in message.tool_calls)
    return points


def _touched(
    entries: Sequence[Entry],
    seen: Mapping[str, AgentMessage],
    previous: CompactionEntry | None,
) -> Touched:
    touched = Touched.by(seen[e.id] for e in entries)
    if previous is not None and not previous.from_hook:
        touched |= Touched.told(previous.details)
    return touched


def _carried(entries: Sequence[Entry]) -> Touched:
    carried = Touched()
    for entry in entries:
        if isinstance(entry, BranchSummaryEntry) and not entry.from_hook:
            carried |= Touched.told(entry.details)
    return carried


def _ends_compacted(path: Sequence[Entry]) -> bool:
    for entry in reversed(path):
        if not (isinstance(entry, CustomEntry) and entry.custom_type == LEAF_TYPE):
            return isinstance(entry, CompactionEntry)
    return False


def _message(entry: Entry, seen: Mapping[str, AgentMessage]) -> AgentMessage | None:
    return None if isinstance(entry, CompactionEntry) else seen.get(entry.id)


def _summarised(entry: Entry, seen: Mapping[str, AgentMessage]) -> bool:
    return _message(entry, seen) is not None


def _invisible(entry: Entry, seen: Mapping[str, AgentMessage]) -> bool:
    return not isinstance(entry, CompactionEntry) and entry.id not in seen
