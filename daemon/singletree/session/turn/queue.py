"""What waits to be said: steering and follow-ups, durable until they are entries.

The list lives in memory and, as a whole, in one small file: a text is on the disk before its sender
hears that it was accepted, and after a crash it comes back paused, never sent by itself. Every
change grows `version`, so that a client's view can be checked. Never knows the agent or the wire.
Read next: turns.py (who puts something in), driver.py (who says it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from singletree.errors import SingletreeError, StaleError, or_session_error
from singletree.messages import AgentMessage, Block, UserMessage
from singletree.pathtext import LONG, read_plain
from singletree.session.events import QueueItem
from singletree.session.files import put_aside, replace_file

Kind = Literal["steer", "followUp"]
Mode = Literal["all", "one-at-a-time"]

CLIENT_ID = "clientMessageId"
"""Under this key a user's entry has the id that its client gave it."""

MOST_WAITING = 100
"""More than anybody types ahead; a client that loops gets `queue_full`."""

NOT_ALL = "An order names every waiting message once; look at the queue again."
NOT_STORED = "What waits to be said could not be written to {path}: {why}."

_CONTENT: TypeAdapter[list[Block]] = TypeAdapter(list[Block])
_STORED: TypeAdapter[list[QueueItem]] = TypeAdapter(list[QueueItem])


def user_message(content: Sequence[Block], client_message_id: str | None = None) -> UserMessage:
    """What a person said; the id that their client gave it goes along into the file."""
    message = UserMessage(content=list(content))
    if client_message_id is None:
        return message
    return UserMessage.model_validate({**message.dump(), CLIENT_ID: client_message_id})


def message_of(item: QueueItem) -> UserMessage:
    """A waiting text as the message that it becomes."""
    return user_message(_CONTENT.validate_python(list(item.content)), item.client_message_id)


class Queue:
    """Steering and follow-ups of one session, in the order in which they will be said."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self._path = path
        self._changed = changed
        self._items: list[QueueItem] = []
        self._made = 0
        self.version = 0
        self.modes: dict[Kind, Mode] = {"steer": "one-at-a-time", "followUp": "one-at-a-time"}
        self._chosen: set[Kind] = set()

    def begin_modes(self, steer: Mode, follow_up: Mode) -> None:
        """What the settings say; a mode that was chosen for this session stays."""
        given: dict[Kind, Mode] = {"steer": steer, "followUp": follow_up}
        self.modes |= {kind: mode for kind, mode in given.items() if kind not in self._chosen}

    def set_mode(self, kind: Kind, mode: Mode) -> None:
        """Take all of a kind at once, or one at a time."""
        self._chosen.add(kind)
        self.modes[kind] = mode
        self._touch()

    def load(self) -> list[QueueItem]:
        """What the last life left in the file; one that cannot be read or said is put aside."""
        try:
            stored = _STORED.validate_json(read_plain(self._path, LONG))
            for item in stored:
                message_of(item)
            return stored
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValidationError):
            put_aside(self._path)
            return []

    def restore(
        self, stored: Sequence[QueueItem], said: Callable[[str], bool], free: Callable[[str], str]
    ) -> None:
        """Take back what was left, paused, but for what had become an entry (`said`).

        `free`: the id it can be an entry with.
        """
        left = [
            replace(item, paused=True, entry_id=free(item.entry_id))
            for item in stored
            if not said(item.entry_id)
        ]
        self._made = max(
            (int(i.queue_id[1:]) for i in left if i.queue_id[1:].isdecimal()), default=0
        )
        if left:
            self._items = left
            self._touch()

    @property
    def items(self) -> tuple[QueueItem, ...]:
        """All that waits."""
        return tuple(self._items)

    @property
    def begins(self) -> bool:
        """Whether anything would be taken."""
        return any(not i.paused for i in self._items)

    def add(
        self,
        kind: Kind,
        entry_id: str,
        content: Sequence[Mapping[str, JsonValue]],
        client_message_id: str | None = None,
    ) -> QueueItem:
        """Put a text at the end; call `store` before telling anybody that it is accepted."""
        if len(self._items) >= MOST_WAITING:
            raise SingletreeError(
                f"{MOST_WAITING} messages are waiting already; clear the queue or wait.",
                code="queue_full",
            )
        self._made += 1
        item = QueueItem(
            f"q{self._made}", kind, tuple(content), client_message_id, entry_id=entry_id
        )
        self._items.append(item)
        self._touch()
        return item

    def next(self, kind: Kind) -> list[QueueItem]:
        """What would be said next of a kind: one or all, by its mode."""
        ready = [i for i in self._items if i.kind == kind and not i.paused]
        return ready[:1] if self.modes[kind] == "one-at-a-time" else ready

    def steering(self) -> list[tuple[str | None, AgentMessage]]:
        """What a running agent may take, with the ids of the entries to be."""
        ready = (i for i in self._items if i.kind == "steer" and not i.paused)
        return [(i.entry_id, message_of(i)) for i in ready]

    def said(self, entry_id: str) -> None:
        """This one is an entry now: only then it leaves the queue."""
        left = [i for i in self._items if i.entry_id != entry_id]
        if len(left) != len(self._items):
            self._items = left
            self._touch()

    def sent_as(self, client_message_id: str) -> QueueItem | None:
        """The waiting text to which its client gave this id."""
        return next((i for i in self._items if i.client_message_id == client_message_id), None)

    def position(self, queue_id: str) -> int | None:
        """How many stand before it, or None when it is gone."""
        return next((n for n, i in enumerate(self._items) if i.queue_id == queue_id), None)

    def remove(self, queue_ids: Sequence[str], version: int | None = None) -> list[QueueItem]:
        """Take some out without saying them."""
        self._expect(version)
        for queue_id in queue_ids:
            self._at(queue_id)
        out = [i for i in self._items if i.queue_id in queue_ids]
        self._items = [i for i in self._items if i.queue_id not in queue_ids]
        self._touch()
        return out

    def clear(self, kind: Kind | None = None, version: int | None = None) -> list[QueueItem]:
        """Take all of a kind (or all) out and hand them back."""
        self._expect(version)
        out = [i for i in self._items if kind in (None, i.kind)]
        if out:
            self._items = [i for i in self._items if i not in out]
            self._touch()
        return out

    def put_back(self, taken: Sequence[QueueItem]) -> None:
        """That these were taken out could not be kept: they wait on, before all others."""
        if taken:
            self._items = [*taken, *self._items]
            self._touch()

    def update(
        self,
        queue_id: str,
        *,
        content: Sequence[Mapping[str, JsonValue]] | None = None,
        kind: Kind | None = None,
        paused: bool | None = None,
        version: int | None = None,
    ) -> QueueItem:
        """Change one: its text, its kind, or whether it waits for a person."""
        self._expect(version)
        at = self._at(queue_id)
        old = self._items[at]
        new = replace(
            old,
            content=old.content if content is None else tuple(content),
            kind=kind or old.kind,
            paused=old.paused if paused is None else paused,
        )
        self._items[at] = new
        self._touch()
        return new

    def reorder(self, queue_ids: Sequence[str], version: int | None = None) -> None:
        """Put all of them into this order; StaleError where one is not named, or twice."""
        self._expect(version)
        named = [self._items[self._at(q)] for q in queue_ids]
        if sorted(queue_ids) != sorted(i.queue_id for i in self._items):
            raise StaleError(NOT_ALL, detail={"version": self.version})
        self._items = named
        self._touch()

    def store(self) -> None:
        """Write the list as it now is, at once or not at all; no file when nothing waits.

        Slow (it syncs): call it in a worker thread.
        """
        items = list(self._items)
        with or_session_error(NOT_STORED, self._path):
            if items:
                replace_file(self._path, json.dumps(_STORED.dump_python(items, mode="json")))
            else:
                with suppress(FileNotFoundError, NotADirectoryError):
                    self._path.unlink()

    def _at(self, queue_id: str) -> int:
        at = self.position(queue_id)
        if at is None:
            raise SingletreeError(
                f"No queued message {queue_id}; it was sent or removed.", code="not_found"
            )
        return at

    def _expect(self, version: int | None) -> None:
        if version is not None and version != self.version:
            raise StaleError(
                f"The queue is at version {self.version}, not {version}; look at it again.",
                detail={"version": self.version},
            )

    def _touch(self) -> None:
        self.version += 1
        self._changed()
