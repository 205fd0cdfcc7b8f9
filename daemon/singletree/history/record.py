"""One session as it is worked with: the tree and its file, kept in step.

An entry is in the tree when its line is written, never before; a failed write changes nothing. One
thread appends. Never calls a model, never waits but for the disk. Read next: reading.py (what can
be asked), log.py (how lines reach the file), store.py (where sessions live).
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Sequence

from singletree.errors import SessionError
from singletree.history.damage import Damage
from singletree.history.entries import (
    LEAF_TYPE,
    CustomEntry,
    Entry,
    EntryBase,
    MessageEntry,
    SessionHeader,
    dump,
    iso_now,
)
from singletree.history.forking import path_lines, speaks
from singletree.history.index import Index
from singletree.history.log import SessionLog
from singletree.history.reading import HERE, EntryPage, Reading, Where
from singletree.history.recovery import read_header

__all__ = ["HERE", "EntryPage", "History", "Where"]

_CREATING = ("user", "assistant")


class History(Reading):
    """A session that is worked with. `create_now`: the first line written makes the file."""

    def __init__(
        self,
        header: SessionHeader,
        index: Index,
        log: SessionLog,
        damage: Iterable[Damage] = (),
        *,
        create_now: bool = False,
    ) -> None:
        super().__init__(header, index, log, damage)
        self._create_now = create_now
        self._minted: set[str] = set()
        self._theirs: list[str] = []

    def mint(self) -> str:
        """An id that no entry has, kept for an entry to come."""
        while True:
            made = secrets.token_hex(4)
            if made not in self._index.row_of and made not in self._minted:
                self._minted.add(made)
                return made

    def free(self, wanted: str) -> str:
        """An id for an entry to come: the wanted one, or another where a damaged line bears it."""
        return self.mint() if wanted in self._index.row_of else wanted

    def append(self, entry: Entry, *, id: str | None = None, after: Where = HERE) -> Entry:
        """Write an entry after the leaf, or after another one; it becomes the leaf.

        It is given its id (or `id`, minted before), parent and timestamp. The file appears with the
        first user or assistant message. If the write fails, nothing has changed.
        """
        self._grow()
        above = self.tree.id_at(self._row_of(after))
        new_id = id or self.mint()
        if new_id in self._index.row_of:
            raise SessionError(f"The session has an entry {new_id} already.")
        placed = entry.model_copy(
            update={
                "id": new_id,
                "parent_id": above,
                "timestamp": entry.timestamp or iso_now(),
            }
        )
        row = self._write(placed)
        self._bodies.put(row, placed)
        return placed

    def move(self, entry_id: str | None) -> bool:
        """Set the leaf to an entry, or before the first; False where it stood there already."""
        row = self._row_of(entry_id)
        if row == self.tree.leaf_row:
            return False
        self._grow()
        mark = CustomEntry(
            id=self.mint(),
            parent_id=entry_id,
            timestamp=iso_now(),
            custom_type=LEAF_TYPE,
            data={"leafId": entry_id},
        )
        self._write(mark)
        return True

    def take_in(self) -> list[str]:
        """Read what another program has added to the file: the ids of its entries, each once.

        The leaf stays where it is; only one who just looks on follows the writer's.
        """
        self._grow()
        return self.theirs()

    def theirs(self) -> list[str]:
        """The ids of entries that other programs have added and that nobody asked for yet."""
        new, self._theirs = self._theirs, []
        return new

    def is_replaced(self) -> bool:
        """Whether another file with this session is in the place of ours. Looks at the disk."""
        if not self._log.is_replaced():
            return False
        try:
            return read_header(self.file).id == self.id
        except (SessionError, OSError):
            return False

    def path_lines(self, upto: str | None) -> Sequence[bytes]:
        """The lines of the path to an entry, for a session forked from this one."""
        return path_lines(self.tree, self._bodies, self._row_of(upto), self.mint)

    def settle(self) -> None:
        """Make the file now if anything was said: a fork with messages is there at once."""
        if not self.on_disk and speaks(self.tree):
            self.create()

    def create(self) -> None:
        """Make the file now, though nothing was said."""
        self._log.create()

    def sync(self) -> None:
        """Make what was written survive a power cut. Slow: call it in a worker thread."""
        self._log.sync()

    def close(self) -> None:
        """Let the file and its lock go."""
        self._log.close()

    def _grow(self) -> None:
        """Read what another program has added since."""
        if grown := self._log.growth():
            self._foreign(self._log.size - len(grown), grown)

    def _write(self, entry: EntryBase) -> int:
        """Write the line, then take it into the index and the tree."""
        line, end = dump(entry), self._log.size
        speaks = isinstance(entry, MessageEntry) and entry.message.role in _CREATING
        offset = self._log.append(line, create=speaks or self._create_now)
        if offset > end + 1:  # more than a line feed that was missing
            self._foreign(end, self._log.read(end, offset - end))
        self._index.end = offset
        self._index.scan([line], check_from=offset + 1)
        self._minted.discard(entry.id)
        self.tree.absorb(follow=True)
        return len(self._index) - 1

    def _foreign(self, at: int, lines: bytes) -> None:
        """What another program has written, as part of the tree."""
        if not self._told.tells("foreign_writer"):  # from here on
            self._told.add(Damage("foreign_writer", self._index.lines + 1, at, len(lines)))
        before, told = len(self._index), len(self._index.damage)
        self._index.end = at
        self._index.scan(io.BytesIO(lines))
        self.tree.absorb(follow=self.read_only)
        for found in self._index.damage[told:]:
            self._tell(found)
        new = range(before, len(self._index))
        self._theirs += [self._index.ids[row] for row in new if not self.tree.hidden(row)]
