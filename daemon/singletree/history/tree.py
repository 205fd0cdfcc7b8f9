"""How entries stand together: paths, the leaf, ancestors, what a move leaves behind.

Works on the rows of an index and never on bodies, never recursively, so depth costs nothing but
time. Entries of type `singletree.leaf` say where the leaf stands; they and unreadable rows are
walked through and shown nowhere. Nothing is ever removed. Read next: outline.py (rows for a view),
record.py (the tree with its file).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from singletree.errors import UnknownEntry
from singletree.excerpt import cut
from singletree.history.entries import LEAF_TYPE
from singletree.history.index import NO_ROW, Index
from singletree.history.jsonl import Json

LONGEST_NAME = 200
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class SessionTree:
    """The tree over an index. `version` grows with every change."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.version = 0
        self.leaf_row = NO_ROW
        self._labels: dict[str, str] = {}
        self.label_rows: dict[str, int] = {}
        """Where the label of an entry was given."""
        self._name: str | None = None
        self._marks: dict[int, int] = {}
        self._walked: tuple[int, int, Sequence[int]] = (-1, NO_ROW, ())
        self.absorb()
        self.leaf_row = self._last()

    @property
    def leaf(self) -> str | None:
        """The id of the entry that the next one follows; None before the first."""
        return self.id_at(self.leaf_row)

    @property
    def labels(self) -> Mapping[str, str]:
        """The newest label of each entry that has one."""
        return self._labels

    @property
    def name(self) -> str | None:
        """The session's newest name."""
        return self._name

    @property
    def count(self) -> int:
        """Entries, without those that are shown nowhere."""
        return len(self.index) - len(self._marks) - len(self.index.unreadable)

    def absorb(self, *, follow: bool = False) -> None:
        """Take over what the index has read since. `follow`: the leaf goes to the last row."""
        for row, data in self.index.notes:
            self._note(row, data)
        self.index.notes.clear()
        self.version += 1
        if follow:
            self.leaf_row = self.standing(len(self.index) - 1)

    def row(self, entry_id: str) -> int:
        """The row of an entry that is shown; UnknownEntry otherwise."""
        row = self.index.row_of.get(entry_id, NO_ROW)
        if row == NO_ROW or self.hidden(row):
            raise UnknownEntry(f"The session has no entry {entry_id}.", detail={"id": entry_id})
        return row

    def id_at(self, row: int) -> str | None:
        """The id at a row; None where there is no row."""
        return None if row == NO_ROW else self.index.ids[row]

    def hidden(self, row: int) -> bool:
        """Whether the row is shown nowhere."""
        return row in self._marks or row in self.index.unreadable

    def hidden_rows(self) -> Iterator[int]:
        """Rows that are shown nowhere."""
        yield from list(self._marks)
        yield from list(self.index.unreadable)

    def standing(self, row: int) -> int:
        """The row itself, or the one that a hidden row stands for."""
        while row != NO_ROW and (row in self._marks or row in self.index.unreadable):
            row = self.index.parents[row]
        return row

    def _last(self) -> int:
        """Where the last line stands; one that cannot be read and stands nowhere is passed over."""
        for row in reversed(range(len(self.index))):
            found = self.standing(row)
            if found != NO_ROW or row not in self.index.unreadable:
                return found
        return NO_ROW

    def parent(self, row: int) -> int:
        """The entry that this one follows."""
        return self.standing(self.index.parents[row])

    def up(self, row: int) -> Iterator[int]:
        """From an entry to its root, newest first."""
        row = self.standing(row)
        parents = self.index.parents
        plain = not self._marks and not self.index.unreadable
        while row != NO_ROW:
            yield row
            row = parents[row] if plain else self.standing(parents[row])

    def path_rows(self, row: int) -> Sequence[int]:
        """From the root to an entry; kept until another is asked for, or the tree changes."""
        version, known, path = self._walked
        if (version, known) != (self.version, row):
            path = self._walk(row)
            self._walked = self.version, row, path
        return path

    def _walk(self, row: int) -> list[int]:
        """As `up`, root first; a long path is walked at every start."""
        if self._marks or self.index.unreadable:
            return list(self.up(row))[::-1]
        path: list[int] = []
        add, parents = path.append, self.index.parents
        while row != NO_ROW:
            add(row)
            row = parents[row]
        path.reverse()
        return path

    def path(self, leaf: str | None = None) -> list[str]:
        """Ids from the root to an entry, or to the leaf."""
        row = self.leaf_row if leaf is None else self.row(leaf)
        return [self.index.ids[one] for one in self.path_rows(row)]

    def ancestor(self, a: str | None, b: str | None) -> str | None:
        """The deepest entry that both follow or are."""
        if a is None or b is None:
            return None
        above = set(self.up(self.row(a)))
        return self.id_at(next((row for row in self.up(self.row(b)) if row in above), NO_ROW))

    def left_behind(self, old: str | None, new: str | None) -> list[str]:
        """Ids that a move of the leaf leaves behind: below the common ancestor, oldest first."""
        if old is None:
            return []
        kept = set() if new is None else set(self.up(self.row(new)))
        left: list[str] = []
        for row in self.up(self.row(old)):
            if row in kept:
                break
            left.append(self.index.ids[row])
        return left[::-1]

    def children(self, entry_id: str | None) -> list[str]:
        """Entries that follow an entry directly, in file order; of None: the roots."""
        above = NO_ROW if entry_id is None else self.row(entry_id)
        return [self.index.ids[row] for row in self.rows() if self.parent(row) == above]

    def rows(self) -> Iterator[int]:
        """All rows that are shown, in file order."""
        for row in range(len(self.index)):
            if not self.hidden(row):
                yield row

    def move(self, row: int) -> None:
        """Set the leaf. Whoever calls this has written it down."""
        self.leaf_row = self.standing(row)
        self.version += 1

    def spoil(self, row: int) -> None:
        """A row's body cannot be read: from now on it only holds the tree together."""
        self.index.unreadable.add(row)
        self.leaf_row = self.standing(self.leaf_row)
        self.version += 1

    def _note(self, row: int, data: Json) -> None:
        match data.get("type"):
            case "label":
                self._label(row, data)
            case "session_info":
                name = data.get("name")
                self._name = clean_name(name) if isinstance(name, str) else None
            case _ if data.get("customType") == LEAF_TYPE:
                self._marks[row] = self.index.parents[row]

    def _label(self, row: int, data: Json) -> None:
        target, label = data.get("targetId"), data.get("label")
        if not isinstance(target, str) or target not in self.index.row_of:
            return
        text = clean_name(label) if isinstance(label, str) else None
        if text:
            self._labels[target] = text
            self.label_rows[target] = row
        else:
            self._labels.pop(target, None)
            self.label_rows.pop(target, None)


def clean_name(name: str) -> str | None:
    """A name or a label on one line, not too long; None where nothing is left."""
    line = _BREAKS.sub(" ", name).strip()
    return cut(line, LONGEST_NAME) or None
