"""One session as it can be looked at: its entries by id, by path, in pages, as rows of its tree.

Bodies are read by offset when they are asked for, and kept while they are on the path in use. What
proves unreadable then is told like any other damage. Another thread may read while one appends.
Never writes a line. Read next: record.py (the same, and writing), tree.py, bodies.py.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Literal

from singletree.errors import StaleError, UnknownEntry
from singletree.history.bodies import Bodies
from singletree.history.damage import WITH_BYTES, Damage, Told, keep_aside
from singletree.history.entries import Entry, SessionHeader
from singletree.history.index import NO_ROW, Index, Kind
from singletree.history.jsonl import Json
from singletree.history.log import SessionLog
from singletree.history.outline import Filter, Outline, RowPage
from singletree.history.reach import needed, setting, speaking
from singletree.history.tree import SessionTree


class Leaf(Enum):
    """The entry where the session stands, whichever that is."""

    HERE = "leaf"


Where = str | None | Literal[Leaf.HERE]
HERE: Literal[Leaf.HERE] = Leaf.HERE


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries in order. `previous` and `next` are what to give as `before` and `since` for more."""

    entries: tuple[Entry, ...]
    leaf_id: str | None
    previous: str | None
    next: str | None


class Reading:
    """A session: its entries as a tree, what is wrong with its file."""

    def __init__(
        self, header: SessionHeader, index: Index, log: SessionLog, damage: Iterable[Damage] = ()
    ) -> None:
        self.header = header
        self.tree = SessionTree(index)
        self._index = index
        self._log = log
        self._bodies = Bodies(self.tree, log.read)
        self._outline = Outline(self.tree, self._bodies)
        self._told = Told(damage)

    # -- what it is

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def file(self) -> Path:
        """Its file, which need not exist yet."""
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
        return tuple(self._told.all)

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

    def data(self, row: int) -> Json | None:
        """The object on a row's line as it stands in the file; None where it cannot be read."""
        return self._bodies.json(row)

    def path(self, leaf: Where = HERE) -> list[Entry]:
        """Entries from the root to an entry, or to the leaf."""
        return self._read(self.tree.path_rows(self._row_of(leaf)), hold=True)

    def context_path(self, leaf: Where = HERE) -> list[Entry]:
        """The path as far as the context needs it.

        Of what stands before the newest compaction's kept part only the last entries that set model
        and thinking level are in it, so a long session is not read whole for every request.
        """
        path = self.tree.path_rows(self._row_of(leaf))
        return self._read(needed(self._index, self._bodies, path), hold=True)

    def settings_path(self) -> list[Entry]:
        """The entries of the path that set model and thinking level last."""
        path = self.tree.path_rows(self.tree.leaf_row)
        return self._read(setting(self._index, self._bodies, path), keep=False)

    def speaking_count(self) -> int:
        """How many messages the path gives to the context; nearly nothing is read for it."""
        path = self.tree.path_rows(self.tree.leaf_row)
        return speaking(self._index, self._bodies, path)

    def back_to(self, wanted: Callable[[Entry], bool]) -> list[Entry]:
        """The end of the path from the newest entry of a sort on; all of it where there is none."""
        found: list[Entry] = []
        for row in self.tree.up(self.tree.leaf_row):
            found += self._read([row], keep=False)
            if found and wanted(found[-1]):
                break
        return found[::-1]

    def passed_over(self, leaf: Where = HERE) -> list[str]:
        """Ids on the path that `context_path` leaves out, root first."""
        path = self.tree.path_rows(self._row_of(leaf))
        counted = set(needed(self._index, self._bodies, path))
        return [self._index.ids[row] for row in path if row not in counted]

    def beside(self, leaf: Where = HERE) -> tuple[int, int]:
        """How many entries are not on the path to an entry, and their bytes in the file."""
        sizes = self._index.sizes
        on_path = set(self.tree.up(self._row_of(leaf)))
        others = [sizes[row] for row in self.tree.rows() if row not in on_path]
        return len(others), sum(others)

    def each(self, *types: str) -> Iterator[Entry]:
        """Entries of these types on all branches, in file order; none of them is kept in memory."""
        for row in self.tree.rows():
            if self._index.kind(row).type in types:
                yield from self._read([row], keep=False)

    def on_path(self, *types: str) -> list[Entry]:
        """Entries of these types from the root to the leaf; none of them is kept in memory."""
        rows = self.tree.path_rows(self.tree.leaf_row)
        found = [row for row in rows if self._index.kind(row).type in types]
        return self._read(found, keep=False)

    def holding(self, role: str, marker: bytes, most: int | None = None) -> Iterator[Entry]:
        """Messages of a role whose lines hold these bytes, the newest first; none is kept.

        No more than the `most` newest messages of the role are looked at.
        """
        rows = reversed(range(len(self._index)))
        said = (r for r in rows if self._index.kind(r).role == role and not self.tree.hidden(r))
        for row in islice(said, most):
            if marker in self._bodies.raw(row):
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
            found = self._read([self.tree.row(one) for one in ids], keep=False)
            return EntryPage(tuple(found), self.leaf, None, None)
        rows = self._branch_rows(branch)
        size = len(rows) if limit is None else max(0, limit)
        if since is not None:
            start = self._place_in(rows, since) + 1
            stop = min(len(rows), start + size)
        else:
            stop = len(rows) if before is None else self._place_in(rows, before)
            start = max(0, stop - size)
        page = self._read(rows[start:stop], keep=False)
        ids_at = self._index.ids
        return EntryPage(
            tuple(page),
            self.leaf,
            ids_at[rows[start]] if 0 < start < stop else None,
            ids_at[rows[stop - 1]] if start < stop < len(rows) else None,
        )

    def lines(self, ids: Iterable[str], kinds: Container[Kind]) -> Iterator[tuple[Kind, bytes]]:
        """The lines of entries as they stand in the file: those of some kinds, none decoded."""
        for row in map(self.tree.row, ids):
            if (kind := self._index.kind(row)) in kinds:
                yield kind, self._bodies.raw(row)

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

    # -- helpers

    def _row_of(self, place: Where) -> int:
        if isinstance(place, Leaf):
            return self.tree.leaf_row
        return NO_ROW if place is None else self.tree.row(place)

    def _branch_rows(self, branch: Literal["active", "all"]) -> Sequence[int]:
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
        at, size = self._index.offsets[row], self._index.sizes[row]
        self.tree.spoil(row)
        self._tell(Damage("broken_entry", 0, at, size, self._index.ids[row]))

    def _tell(self, found: Damage) -> None:
        """Note damage, its bytes copied aside; what was copied before has been told before."""
        if found.kind in WITH_BYTES:
            raw = self._log.read(found.offset, found.size)
            kept, new = keep_aside(self._log.folders.damaged, self.file.name, found.offset, raw)
            if not new:
                return
            found = replace(found, kept=kept)
        self._told.add(found)
