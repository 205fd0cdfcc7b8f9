"""The tree as a session uses it: whatever is added is told, whatever is asked is projected.

One place appends entries, so that each is told exactly once and in order; what another program has
written into the file meanwhile is told before. Never runs a model.
Read next: ../session.py and compactor.py, which share one Conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Literal

from singletree.compaction.budget import Gauge, Size, context_tokens, measured
from singletree.context.projection import Projection, extend, project, settings_of
from singletree.errors import SessionReadOnly, SingletreeError
from singletree.history.entries import (
    CompactionEntry,
    ContextEditEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from singletree.history.record import HERE, History, Where
from singletree.history.tree import clean_name
from singletree.messages import AssistantMessage, ThinkingLevel, UserMessage, well_formed
from singletree.session.events import EntryAppended, LeafMoved, SessionEvent

LeafCause = Literal["append", "navigate", "label", "compact"]

REMEMBERED = 1000
"""Texts of people that are known again by the ids their clients gave them."""

READ_ONLY = "This session is open for reading only; fork it to go on."


class Conversation:
    """A history that tells. `fixed`: tokens of what every request carries besides the messages."""

    def __init__(
        self,
        history: History,
        emit: Callable[[SessionEvent], None],
        warn: Callable[[str, str], None],
    ) -> None:
        self.history = history
        self.fixed = 0
        self._emit = emit
        self._warn = warn
        self._told = len(history.damage)
        self._known: tuple[int, list[Entry], Projection] | None = None
        self._gauge = Gauge()
        self._put_off: list[tuple[str, Entry]] = []

    def check_writable(self) -> None:
        """Raise where nothing may be added (a file of a newer version)."""
        if self.history.read_only:
            raise SessionReadOnly(READ_ONLY)

    def add(
        self,
        entry: Entry,
        *,
        id: str | None = None,
        after: Where = HERE,
        cause: LeafCause = "append",
        first: SessionEvent | None = None,
    ) -> Entry:
        """Append an entry (one write) and tell of it; it becomes the leaf.

        `first`: told before the entry, when that is written.
        """
        self.check_writable()
        placed = self.history.append(entry, id=id, after=after)
        self._extend(placed, after)
        self._tell_found(self.history.theirs())
        if first is not None:
            self._emit(first)
        self._emit(EntryAppended(placed))
        self._tell_leaf(cause)
        return placed

    def put_off(self, entry: Entry, *, id: str) -> None:
        """Keep an entry until no turn runs: it would part a call from its result."""
        self._put_off.append((id, entry))

    def bring_in(self) -> None:
        """Add what was put off. What cannot be written is told, and tried again the next time."""
        while self._put_off:
            entry_id, entry = self._put_off[0]
            try:
                self.add(entry, id=entry_id)
            except SingletreeError as error:
                self._warn(error.code, error.message)
                return
            del self._put_off[0]

    def move(self, entry_id: str | None) -> None:
        """Set the leaf without adding anything that a model could see."""
        self._tell_found(self.history.take_in())
        if self.history.move(entry_id):
            self._known = None
            self._tell_leaf("navigate")

    def label(self, entry_id: str, label: str | None) -> Entry:
        """Put a bookmark on an entry, or take it away."""
        self.history.entry(entry_id)
        text = None if label is None else clean_name(label) or ""
        return self.add(LabelEntry(target_id=entry_id, label=text), cause="label")

    def rename(self, name: str) -> None:
        """Give the session a name; an empty one takes it away."""
        self.add(SessionInfoEntry(name=clean_name(name) or ""))

    def hide(self, entry_ids: Sequence[str]) -> None:
        """Keep failed attempts in the file and out of every later request."""
        for entry_id in entry_ids:
            self.add(ContextEditEntry(target_id=entry_id))

    def sent_as(self, client_message_id: str) -> str | None:
        """The newest entry to whose text its client gave this id. Reads the file: slow."""
        kept = well_formed(client_message_id)
        marker = json.dumps(kept, ensure_ascii=False).encode()
        for entry in self.history.holding("user", marker, REMEMBERED):
            match entry:
                case MessageEntry(message=UserMessage(model_extra={"clientMessageId": known})):
                    if known == kept:
                        return entry.id
        return None

    def path(self) -> list[Entry]:
        """The active path as far as the context needs it."""
        return self._now()[0]

    def projection(self) -> Projection:
        """The active path as messages; made anew only when the tree has changed."""
        return self._now()[1]

    def settings(self) -> tuple[tuple[str, str] | None, ThinkingLevel | None]:
        """Model and thinking level as the path leaves them; None where it says nothing of them."""
        said = self.history.settings_path()
        model, thinking = settings_of(said)
        levels = any(isinstance(entry, ThinkingLevelChangeEntry) for entry in said)
        return model, thinking if levels else None

    def size(self) -> Size:
        """Tokens of the context: measured by the provider where possible, else estimated.

        Where the path was not read yet, no more is read than what came after the last measure.
        """
        if self._current() is None:
            end = self.history.back_to(_measures_or_changes)
            if end and _measures(end[0]):
                return context_tokens(project(end))
        return self._gauge.context_tokens(self.projection())

    def tokens(self) -> int:
        """The figure that is compared with the threshold."""
        size = self.size()
        return size.tokens + (self.fixed if size.at is None else 0)

    def shown_tokens(self) -> int | None:
        """The same for a person: None where an estimate after a compaction would mislead."""
        size = self.size()
        if size.at is None and any(isinstance(e, CompactionEntry) for e in self.path()):
            return None
        return size.tokens + (self.fixed if size.at is None and size.tokens else 0)

    def _tell_found(self, theirs: Sequence[str]) -> None:
        """Tell what another program has added, and what proved damaged since it was opened."""
        if theirs:
            for entry in self.history.entries(ids=theirs).entries:
                self._emit(EntryAppended(entry))
        damage = self.history.damage
        for found in damage[self._told :]:
            self._warn(found.kind, found.message)
        self._told = len(damage)

    def _tell_leaf(self, cause: LeafCause) -> None:
        self._emit(LeafMoved(self.history.leaf, self.history.tree_version, cause))

    def _now(self) -> tuple[list[Entry], Projection]:
        known = self._current()
        if known is None:
            version = self.history.tree_version  # before reading: the loop may append meanwhile
            path = self.history.context_path()
            known = self._known = (version, path, project(path))
        return known[1], known[2]

    def _current(self) -> tuple[int, list[Entry], Projection] | None:
        """What was read of the path, unless the tree has changed since."""
        known = self._known
        return known if known and known[0] == self.history.tree_version else None

    def _extend(self, entry: Entry, after: Where) -> None:
        """Carry the projection on where an entry only adds to it."""
        known, self._known = self._known, None
        if known is None or after is not HERE:
            return
        version = self.history.tree_version
        projection = extend(known[2], entry)
        if projection is not None and version == known[0] + 1:
            known[1].append(entry)
            self._known = (version, known[1], projection)


def _measures(entry: Entry) -> bool:
    """Whether a provider has counted up to here."""
    match entry:
        case MessageEntry(message=AssistantMessage() as answer):
            return measured(answer) > 0
        case _:
            return False


def _measures_or_changes(entry: Entry) -> bool:
    """Whether nothing before this entry matters to the size, or all of it does."""
    return isinstance(entry, CompactionEntry | ContextEditEntry) or _measures(entry)
