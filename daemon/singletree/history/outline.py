"""The tree as flat rows for a view: filters, search, pages.

A row's depth is its indentation: the number of forks above it, so a straight conversation stays at
0. Only a page's rows have their bodies read (a search reads all). Never recursive, never changes
the tree. Read next: preview.py (what a row says), tree.py (how rows stand together).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from singletree.history.bodies import Bodies
from singletree.history.index import NO_ROW, Kind
from singletree.history.jsonl import Json, decode
from singletree.history.preview import preview, silent, text_of_line
from singletree.history.tree import SessionTree

Filter = Literal["default", "noTools", "userOnly", "labeled", "all"]
_BOOKKEEPING = frozenset(
    ("label", "context_edit", "custom", "model_change", "thinking_level_change", "session_info")
)


@dataclass(frozen=True, slots=True)
class Row:
    """One entry in a view. `parent_id` is the row above it in this view, not always its parent."""

    entry_id: str
    type: str
    role: str | None
    timestamp: str
    depth: int
    parent_id: str | None
    on_path: bool
    is_leaf: bool
    label: str | None
    preview: str
    child_count: int


@dataclass(frozen=True, slots=True)
class RowPage:
    """Rows in order. `previous` ends where this page starts, `next` starts where it ends."""

    rows: tuple[Row, ...]
    leaf_id: str | None
    tree_version: int
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rows of a view in order, each with its indentation, and how they hang together."""

    order: array[int]
    depths: array[int]
    above: array[int]
    children: array[int]


class Outline:
    """Pages of a tree's rows. The order of a view is kept until the tree changes."""

    def __init__(self, tree: SessionTree, bodies: Bodies) -> None:
        self._tree = tree
        self._bodies = bodies
        self._shapes: dict[tuple[Filter, str], _Shape] = {}
        self._version = tree.version
        self._lock = Lock()

    def page(
        self, filter: Filter, *, search: str | None, around: str | None, start: int, limit: int
    ) -> RowPage:
        """A page that starts at a place (see `RowPage.next`), or has an entry in its middle.

        Threads may ask at once; they are answered one after the other.
        """
        with self._lock:
            return self._page(filter, search, around, start, limit)

    def _page(
        self, filter: Filter, search: str | None, around: str | None, start: int, limit: int
    ) -> RowPage:
        wanted = None if around is None else self._tree.row(around)
        shape = self._shape(filter, " ".join((search or "").lower().split()))
        leaf = self._leaf_in(filter)
        limit = max(1, limit)
        if wanted is not None:
            start = self._back_from(self._place(shape, wanted), limit // 2, shape, leaf, filter)
        path = set(self._tree.up(self._tree.leaf_row))
        rows: list[Row] = []
        place = start = min(max(0, start), len(shape.order))
        while place < len(shape.order) and len(rows) < limit:
            data = self._shown(place, shape, leaf, filter)
            if data is not None:
                rows.append(self._row(place, data, shape, leaf, path, filter))
            place += 1
        return RowPage(
            tuple(rows),
            self._tree.leaf,
            self._tree.version,
            self._back_from(start, limit, shape, leaf, filter) if start > 0 else None,
            place if place < len(shape.order) else None,
        )

    def _shape(self, filter: Filter, search: str) -> _Shape:
        if self._version != self._tree.version:
            self._shapes.clear()
            self._version = self._tree.version
        shape = self._shapes.get((filter, search))
        if shape is None:
            visible = self._visible(filter)
            if search:
                self._match(visible, search.split())
            shape = self._shapes[filter, search] = _arrange(self._tree, visible)
        return shape

    def _visible(self, filter: Filter) -> bytearray:
        """One byte a row: whether the filter shows its kind."""
        tree, index = self._tree, self._tree.index
        codes = index.codes[: len(index)]
        shown = [_shows(filter, kind) for kind in index.kinds]
        visible = bytearray(shown[code] for code in codes)
        if filter == "labeled":
            labeled = {index.row_of[entry_id] for entry_id in list(tree.labels)}
            visible = bytearray(row in labeled for row in range(len(codes)))
        for row in tree.hidden_rows():
            if row < len(visible):
                visible[row] = 0
        return visible

    def _match(self, visible: bytearray, tokens: Sequence[str]) -> None:
        """Leave visible what holds every token in its text, its label or its kind."""
        for row in range(len(visible)):
            if visible[row] and not self._matches(row, tokens):
                visible[row] = 0

    def _matches(self, row: int, tokens: Sequence[str]) -> bool:
        raw = self._bodies.raw(row)
        label = self._tree.labels.get(self._tree.index.ids[row], "").lower()
        if b"\\u" not in raw:
            text = raw.decode(errors="replace").lower()
            if any(t not in text and t not in label for t in tokens if t.isalnum()):
                return False
        data = decode(raw)
        if data is None:
            return False
        kind = self._tree.index.kind(row)
        text = f"{kind.type} {kind.role or ''} {label} {text_of_line(data)}".lower()
        return all(token in text for token in tokens)

    def _leaf_in(self, filter: Filter) -> int:
        """The nearest entry to the leaf that the filter shows."""
        index = self._tree.index
        for row in self._tree.up(self._tree.leaf_row):
            labeled = filter == "labeled" and index.ids[row] in self._tree.labels
            if labeled or (filter != "labeled" and _shows(filter, index.kind(row))):
                return row
        return NO_ROW

    def _place(self, shape: _Shape, row: int) -> int:
        """Where a row, or the nearest one above it that is shown, stands in the order."""
        for one in self._tree.up(row):
            if shape.above[one] != one:
                return shape.order.index(one)
        return 0

    def _back_from(self, place: int, count: int, shape: _Shape, leaf: int, filter: Filter) -> int:
        """The place so many shown rows before another."""
        while place > 0 and count > 0:
            place -= 1
            count -= self._shown(place, shape, leaf, filter) is not None
        return place

    def _shown(self, place: int, shape: _Shape, leaf: int, filter: Filter) -> Json | None:
        """The body at a place; None for one that cannot be read, or an answer without text that
        is only a step on a straight way."""
        row = shape.order[place]
        data = self._bodies.json(row)
        if data is None:
            return None
        straight = shape.children[row] == 1 and row != leaf and filter in ("default", "noTools")
        return None if straight and self._is_silent(row, data) else data

    def _is_silent(self, row: int, data: Json) -> bool:
        return self._tree.index.kind(row).role == "assistant" and silent(data)

    def _row(
        self, place: int, data: Json, shape: _Shape, leaf: int, path: set[int], filter: Filter
    ) -> Row:
        index, row = self._tree.index, shape.order[place]
        kind, above = index.kind(row), shape.above[row]
        while above != NO_ROW and shape.children[above] == 1 and filter in ("default", "noTools"):
            body = self._bodies.json(above) if index.kind(above).role == "assistant" else None
            if body is None or not silent(body):
                break
            above = shape.above[above]
        when = data.get("timestamp")
        return Row(
            index.ids[row],
            kind.type,
            kind.role,
            when if isinstance(when, str) else "",
            shape.depths[place],
            self._tree.id_at(above),
            row in path,
            row == leaf,
            self._tree.labels.get(index.ids[row]),
            preview(data),
            shape.children[row],
        )


def _shows(filter: Filter, kind: Kind) -> bool:
    """Whether a filter shows entries of a kind."""
    if kind.type == "usage":
        return False
    match filter:
        case "all" | "labeled":
            return True
        case "userOnly":
            return kind.role == "user"
        case "noTools":
            return kind.type not in _BOOKKEEPING and kind.role != "toolResult"
        case "default":
            return kind.type not in _BOOKKEEPING


def _arrange(tree: SessionTree, visible: bytearray) -> _Shape:
    """Parents first, branches in file order; what is not visible is passed over."""
    index = tree.index
    total = len(visible)
    above = array("i", bytes(4 * total))
    parents = index.parents
    for row in index.parents_first(total):
        parent = parents[row]
        above[row] = parent if parent < 0 or visible[parent] else above[parent]
    first, beside = array("i", [NO_ROW]) * (total + 1), array("i", [NO_ROW]) * total
    children = array("i", bytes(4 * (total + 1)))
    for row in range(total - 1, -1, -1):
        if visible[row]:
            parent = above[row]
            beside[row] = first[parent]
            first[parent] = row
            children[parent] += 1
        else:
            above[row] = row
    order, depths = _walk(first, beside)
    return _Shape(order, depths, above, children)


def _walk(first: array[int], beside: array[int]) -> tuple[array[int], array[int]]:
    """Depth first from `first[-1]`, the first root."""
    order, depths = array("i"), array("i")
    waiting: list[tuple[int, int]] = []
    row, depth = first[-1], 0
    while True:
        if row < 0:
            if not waiting:
                return order, depths
            row, depth = waiting.pop()
        order.append(row)
        depths.append(depth)
        if beside[row] >= 0:
            waiting.append((beside[row], depth))
        row = first[row]
        if row >= 0 and beside[row] >= 0:
            depth += 1
