"""One session as it is worked with: the tree and its file, kept in step.

An entry is in the tree when its line is written, never before; a failed write changes nothing.
Bodies are read by offset when asked for and kept while they are on the path in use. One thread
appends; others may read meanwhile. Never calls a model, never waits but for the disk. Read next:
tree.py and log.py (its two halves), store.py (where sessions live).
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from singletree.errors import SessionError, StaleError, UnknownEntry
from singletree.history.bodies import Bodies
from singletree.history.damage import Damage, keep_aside
from singletree.history.editing import check_replacement, edit_of, refused
from singletree.history.entries import (
    LEAF_TYPE,
    CustomEntry,
    Entry,
    EntryBase,
    LabelEntry,
    MessageEntry,
    SessionHeader,
    SessionInfoEntry,
    dump,
    iso_now,
)
from singletree.history.forking import path_lines, readable_lines, speaks
from singletree.history.index import NO_ROW, Index
from singletree.history.log import SessionLog
from singletree.history.outline import Filter, Outline, RowPage
from singletree.history.reach import needed
from singletree.history.tree import SessionTree, clean_name


class Place(Enum):
    """Where a new entry goes."""

    LEAF = "leaf"


Where = str | None | Literal[Place.LEAF]
HERE: Literal[Place.LEAF] = Place.LEAF
_CREATING = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries in order. `previous` and `next` are what to give as `before` and `since` for more."""

    entries: tuple[Entry, ...]
    leaf_id: str | None
    previous: str | None
    next: str | None


class History:
    """A session: its entries as a tree, its file, what is wrong with it."""

    def __init__(
        self,
        header: SessionHeader,
        index: Index,
        log: SessionLog,
        damage: Iterable[Damage] = (),
        *,
        create_now: bool = False,
    ) -> None:
        self.header = header
        self.tree = SessionTree(index)
        self._index = index
        self._log = log
        self._bodies = Bodies(self.tree, log.read)
        self._outline = Outline(self.tree, self._bodies)
        self._damage = list(damage)
        self._create_now = create_now
        self._minted: set[str] = set()

    # -- what it is

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def file(self) -> Path | None:
        """Its file, which need not exist yet; None for one kept in memory only."""
        return self._log.path

    @property
    def on_disk(self) -> bool:
        """Whether the file exists: something was said."""
        return self._log.on_disk

    @property
    def read_only(self) -> bool:
        """Whether appending is refused: a newer version, or a file that may not be written."""
        return self._log.read_only

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What is wrong with the file and was not told at an earlier opening. It may grow."""
        return tuple(self._damage)

    @property
    def leaf(self) -> str | None:
        """The entry that the next one follows; None before the first."""
        return self.tree.leaf

    @property
    def name(self) -> str | None:
        """The session's name."""
        return self.tree.name

    @property
    def labels(self) -> dict[str, str]:
        """The label of each entry that has one."""
        return dict(self.tree.labels)

    @property
    def entry_count(self) -> int:
        """Entries on all branches."""
        return self.tree.count

    @property
    def tree_version(self) -> int:
        """Grows with each change of tree, leaf, labels or name."""
        return self.tree.version

    # -- reading

    def entry(self, entry_id: str) -> Entry:
        """An entry by its id; the error UnknownEntry where there is none."""
        found = self._read([self.tree.row(entry_id)])
        if not found:
            raise UnknownEntry(f"Entry {entry_id} is damaged.", detail={"id": entry_id})
        return found[0]

    def line(self, entry_id: str) -> bytes:
        """An entry's line as it stands in the file."""
        return self._bodies.raw(self.tree.row(entry_id))

    def path(self, leaf: Where = HERE) -> list[Entry]:
        """Entries from the root to an entry, or to the leaf."""
        return self._read(self.tree.path_rows(self._row_of(leaf)), hold=True)

    def context_path(self, leaf: Where = HERE) -> list[Entry]:
        """The path as far as the context needs it.

        Of what stands before the newest compaction's kept part only the last entries that set model
        and thinking level are in it, so a long session is not read whole for every request.
        """
        return self._read(
            needed(self._index, self._bodies, self.tree.path_rows(self._row_of(leaf))), hold=True
        )

    def each(self, *types: str) -> Iterator[Entry]:
        """Entries of these types on all branches, in file order; none of them is kept in memory."""
        for row in self.tree.rows():
            if self._index.kind(row).type in types:
                yield from self._read([row], keep=False)

    def entries(
        self,
        *,
        ids: Sequence[str] | None = None,
        since: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        branch: Literal["active", "all"] = "active",
    ) -> EntryPage:
        """A page: these ids, or what follows `since`, or what ends before `before`, or the end."""
        if ids is not None:
            found = self._read([self.tree.row(one) for one in ids])
            return EntryPage(tuple(found), self.leaf, None, None)
        rows = self._branch_rows(branch)
        size = len(rows) if limit is None else max(0, limit)
        if since is not None:
            start = self._place_in(rows, since) + 1
            stop = min(len(rows), start + size)
        else:
            stop = len(rows) if before is None else self._place_in(rows, before)
            start = max(0, stop - size)
        page = self._read(rows[start:stop])
        ids_at = self._index.ids
        return EntryPage(
            tuple(page),
            self.leaf,
            ids_at[rows[start]] if 0 < start < stop else None,
            ids_at[rows[stop - 1]] if start < stop < len(rows) else None,
        )

    def rows(
        self,
        filter: Filter = "default",
        *,
        search: str | None = None,
        around: str | None = None,
        start: int = 0,
        limit: int = 200,
    ) -> RowPage:
        """A page of the tree's rows, for a view."""
        return self._outline.page(filter, search=search, around=around, start=start, limit=limit)

    # -- writing

    def mint(self) -> str:
        """An id that no entry has, kept for an entry to come."""
        while True:
            made = secrets.token_hex(4)
            if made not in self._index.row_of and made not in self._minted:
                self._minted.add(made)
                return made

    def append(self, entry: Entry, *, id: str | None = None, after: Where = HERE) -> Entry:
        """Write an entry after the leaf, or after another one; it becomes the leaf.

        It is given its id (or `id`, minted before), parent and timestamp. The file appears with the
        first user or assistant message. If the write fails, nothing has changed.
        """
        self.take_in()
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
        self.take_in()
        mark = CustomEntry(
            id=self.mint(),
            parent_id=entry_id,
            timestamp=iso_now(),
            custom_type=LEAF_TYPE,
            data={"leafId": entry_id},
        )
        self._write(mark)
        return True

    def label(self, entry_id: str, text: str | None) -> Entry:
        """Mark an entry with a label; None or an empty one takes it away."""
        self.tree.row(entry_id)
        return self.append(
            LabelEntry(target_id=entry_id, label=None if text is None else text.strip())
        )

    def rename(self, name: str | None) -> Entry:
        """Give the session a name; None or an empty one takes it away."""
        return self.append(SessionInfoEntry(name=clean_name(name or "") or ""))

    def edit(self, entry_id: str, replacement: JsonValue) -> Entry:
        """Alter what an entry on the path gives to the context: null hides it, {content} swaps."""
        check_replacement(replacement)
        row = self.tree.row(entry_id)
        if row not in set(self.tree.up(self.tree.leaf_row)):
            raise refused("not_on_branch", f"Entry {entry_id} is not on the active branch.")
        return self.append(edit_of(self.entry(entry_id), replacement))

    def take_in(self) -> bool:
        """Read what another program has added to the file; the leaf stays where it is."""
        grown = self._log.growth()
        if not grown:
            return False
        line = self._index.lines + 1
        self._damage.append(Damage("foreign_writer", line, self._log.size, len(grown)))
        told = len(self._index.damage)
        self._index.end = self._log.size
        self._index.scan(io.BytesIO(grown))
        self._log.take_growth(grown)
        self._damage += self._index.damage[told:]
        self.tree.absorb()
        return True

    def path_lines(self, upto: str | None) -> Sequence[bytes]:
        """The lines of the path to an entry, for a session forked from this one."""
        return path_lines(self.tree, self._bodies, self._row_of(upto), self.mint)

    def readable_lines(self) -> Sequence[bytes]:
        """All lines that can be read, for a copy of this session."""
        return list(readable_lines(self.tree, self._bodies))

    def settle(self) -> None:
        """Make the file now if anything was said: a fork with messages is there at once."""
        if not self._log.on_disk and speaks(self.tree):
            self._log.create()

    def sync(self) -> None:
        """Make what was written survive a power cut. Slow: call it in a worker thread."""
        self._log.sync()

    def close(self) -> None:
        """Let the file and its lock go."""
        self._log.close()

    # -- helpers

    def _write(self, entry: EntryBase) -> int:
        """Write the line, then take it into the index and the tree."""
        line = dump(entry)
        speaks = isinstance(entry, MessageEntry) and entry.message.role in _CREATING
        offset = self._log.append(line, create=speaks or self._create_now)
        self._index.end = offset
        self._index.scan([line], check_from=offset + 1)
        self._minted.discard(entry.id)
        self.tree.absorb(follow=True)
        return len(self._index) - 1

    def _row_of(self, place: Where) -> int:
        if isinstance(place, Place):
            return self.tree.leaf_row
        return NO_ROW if place is None else self.tree.row(place)

    def _branch_rows(self, branch: Literal["active", "all"]) -> list[int]:
        if branch == "all":
            return list(self.tree.rows())
        return self.tree.path_rows(self.tree.leaf_row)

    def _place_in(self, rows: Sequence[int], entry_id: str) -> int:
        row = self.tree.row(entry_id)
        try:
            return rows.index(row)
        except ValueError:
            raise StaleError(
                f"Entry {entry_id} is not on the active branch any more.",
                detail={"leafId": self.leaf},
            ) from None

    def _read(self, rows: Sequence[int], *, hold: bool = False, keep: bool = True) -> list[Entry]:
        """The entries at these rows, less those whose bodies prove unreadable: they are told."""
        found: list[Entry] = []
        for row in rows:
            entry = self._bodies.get(row, keep=keep)
            if entry is None:
                self._tell_unreadable(row)
            else:
                found.append(entry)
        if hold:
            self._bodies.hold(rows)
        return found

    def _tell_unreadable(self, row: int) -> None:
        """A body is no JSON: from now on its row only holds the tree together."""
        raw = self._bodies.raw(row)
        line = self._log.read(0, self._index.offsets[row]).count(b"\n") + 1
        found = Damage("broken_line", line, self._index.offsets[row], len(raw))
        self.tree.spoil(row)
        if self.file is None:
            self._damage.append(found)
            return
        kept, new = keep_aside(self._log.places.damaged, self.file.name, found.offset, raw)
        if new:
            self._damage.append(replace(found, kept=kept))
