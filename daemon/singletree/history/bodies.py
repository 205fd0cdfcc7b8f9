"""Bodies of entries, read from the file by offset and kept while they are in use.

Kept are the entries of the path read last, and others as long as all together stay within a budget
of bytes, so that projecting the same path again reads nothing. Never decides what is on a path.
Read next: reading.py (which asks), log.py (where bytes come from).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from singletree.history.entries import Entry, entry_of
from singletree.history.jsonl import Json, decode
from singletree.history.tree import SessionTree

BUDGET = 32 * 1024 * 1024
"""Bytes of lines whose parsed form is kept."""


class Bodies:
    """Entries by row. `read` gives the bytes at an offset."""

    def __init__(self, tree: SessionTree, read: Callable[[int, int], bytes]) -> None:
        self._tree = tree
        self._read = read
        self._kept: dict[int, Entry] = {}
        self._size = 0
        self._held: Collection[int] = ()
        self._only_held = False

    def raw(self, row: int) -> bytes:
        """The line."""
        index = self._tree.index
        return self._read(index.offsets[row], index.sizes[row])

    def json(self, row: int) -> Json | None:
        """The line's object as it stands in the file; None where it cannot be read."""
        return decode(self.raw(row))

    def get(self, row: int, *, keep: bool = True) -> Entry | None:
        """The entry; None where its body cannot be read."""
        kept = self._kept.get(row)
        if kept is not None:
            return kept
        data = self.json(row)
        if data is None:
            return None
        entry = self._placed(row, entry_of(data))
        if keep:
            self.put(row, entry)
        return entry

    def put(self, row: int, entry: Entry) -> None:
        """Keep an entry, if it fits."""
        size = self._tree.index.sizes[row]
        if self._size + size > BUDGET and not self._only_held:
            self._drop()
        if self._size + size <= BUDGET:
            self._kept[row] = entry
            self._size += size

    def hold(self, rows: Collection[int]) -> None:
        """These rows are the path in use: they are the last to be dropped."""
        self._held = rows
        self._only_held = False

    def _drop(self) -> None:
        """Make room once: what is left is held, and dropping again would gain nothing."""
        held = set(self._held)
        self._kept = {row: entry for row, entry in list(self._kept.items()) if row in held}
        self._size = sum(self._tree.index.sizes[row] for row in self._kept)
        self._only_held = True

    def _placed(self, row: int, entry: Entry) -> Entry:
        """With the parent it is shown under, where the line names a hidden one."""
        index = self._tree.index
        above = index.parents[row]
        if above >= 0 and self._tree.hidden(above):
            return entry.model_copy(update={"parent_id": self._tree.id_at(self._tree.parent(row))})
        return entry
