"""Events of a session -> payloads for its extensions. Remembers what a payload compares with.

Never awaits, never calls an extension. Read next: hooks.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from singletree.context.projection import said
from singletree.extensions.api import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    Compacted,
    MessageEnd,
    ModelSelected,
    Payload,
    StepEnd,
    StepStart,
    ThinkingSelected,
    TreeMoved,
)
from singletree.history.entries import (
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from singletree.session.events import (
    CompactionEnded,
    ConfigChanged,
    EntryAppended,
    LeafMoved,
    RunEnded,
    RunStarted,
    SessionEvent,
    Settled,
    StepEnded,
    StepStarted,
    TurnEnded,
)


class Payloads:
    """The events of one session as payloads. `config` and `leaf`: as they were told last."""

    def __init__(self) -> None:
        self.config: ConfigChanged | None = None
        self.leaf: str | None = None
        self._summary: str | None = None
        self._aborted = False

    def told(self, event: SessionEvent) -> Iterator[Payload]:
        """What extensions hear of an event."""
        match event:
            case RunStarted():
                yield AgentStart()
            case RunEnded(messages):
                yield AgentEnd(messages)
            case StepStarted(index):
                yield StepStart(index)
            case StepEnded(message, results):
                yield StepEnd(message, results)
            case EntryAppended(entry):
                yield from self._entry(entry)
            case LeafMoved() | ConfigChanged() | CompactionEnded():
                yield from self._changed(event)
            case TurnEnded(reason=reason):
                self._aborted = reason == "aborted"
            case Settled():
                yield AgentSettled(self._aborted)
            case _:
                pass

    def _entry(self, entry: Entry) -> Iterator[Payload]:
        self._summary = entry.id if isinstance(entry, BranchSummaryEntry) else None
        if isinstance(entry, MessageEntry | CustomMessageEntry):
            message = said(entry)
            if message is not None:
                yield MessageEnd(entry.id, message)

    def _changed(self, event: LeafMoved | ConfigChanged | CompactionEnded) -> Iterator[Payload]:
        match event:
            case LeafMoved(leaf, _, cause):
                before, self.leaf = self.leaf, leaf
                if cause == "navigate":
                    yield TreeMoved(leaf, before, self._summary)
                    self._summary = None
            case CompactionEnded(reason=reason, result=result):
                if result is not None:
                    yield Compacted(result.entry_id, reason)
            case ConfigChanged(model=model, thinking=level):
                old, self.config = self.config, event
                if old is not None and model is not None and model != old.model:
                    yield ModelSelected(model, old.model)
                if old is not None and level != old.thinking:
                    yield ThinkingSelected(level, old.thinking)
