"""The heads of a session's lines, without their bodies: id, parent, kind, place in the file.

A row is an entry's number in file order. Nearly every line is a message with a parent, written with
the same keys in the same places: its head is cut out. Where only the order of the keys is the usual
one (type, id, parentId) a regular expression reads it; any other line is decoded. Parents are rows
and form no circle, by construction. What a body says is never kept here, save the few bookkeeping
lines in `notes`. Read next: tree.py (paths, labels, leaf), outline.py (rows for a view).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct

from singletree.history.damage import Damage, DamageKind
from singletree.history.entries import LEAF_TYPE, id_text
from singletree.history.jsonl import Json, decode

NO_ROW = -1
_MISSING = -2
_SCALARS = frozenset(bytes([byte]) for byte in b'["-0123456789tfn')
_BRACE = ord("}")
_ID = rb"[!#-\[\]-~]{1,64}"
_HEAD = re.compile(
    rb'\{"type":"(' + _ID + rb')","id":"(' + _ID + rb')","parentId":(?:"(' + _ID + rb')"|null)'
    rb'(?:,"timestamp":"[^"\\]{0,40}")?(?:,"message":\{"role":"([A-Za-z]{1,32})")?[,}]'
).match
_MESSAGE = Struct("24s8s14s8s15s23x22s11s").unpack_from
_MESSAGE_KEYS = (
    b'{"type":"message","id":"',
    b'","parentId":"',
    b'","timestamp":"',
    b'Z","message":{"role":"',
)
_ROLE_AT, _HEAD_END = 114, 125
"""Of a usual message: where its role begins, and how far its head is looked at."""
_NOTED = frozenset(("label", "session_info", "custom"))
_LEAF_MARK = LEAF_TYPE.encode()


@dataclass(frozen=True, slots=True)
class Kind:
    """What sort of entry: its type, and for messages the role."""

    type: str
    role: str | None = None


class Index:
    """Rows in compact arrays: 100,000 entries take some 15 MB, however long their texts are."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.parents = array("i")
        self.offsets = array("q")
        self.sizes = array("q")
        self.codes = array("H")
        self.kinds: list[Kind] = []
        self.unreadable: set[int] = set()
        """Rows whose head can be read and whose body cannot: they only hold the tree together."""
        self.notes: list[tuple[int, Json]] = []
        """Bookkeeping lines not yet taken over by the tree: labels, names, marks of the leaf."""
        self.damage: list[Damage] = []
        self.end = 0
        self.lines = 0
        self._codes: dict[Kind, int] = {}
        self._by_role: dict[bytes, int] = {}
        """Codes by how a usual message goes on from its role: `user","cont`."""
        self._orphans: dict[str, list[tuple[int, int]]] = {}
        self._straight = True

    def __len__(self) -> int:
        """Rows that are complete: their size is noted last, so another thread may read them."""
        return len(self.sizes)

    def kind(self, row: int) -> Kind:
        """The kind of a row."""
        return self.kinds[self.codes[row]]

    def scan(self, lines: Iterable[bytes], check_from: int = 0) -> None:
        """Add lines that follow each other in the file; from `check_from` on bodies are checked.

        The loop is the one place where speed counts more than shape: every open passes it.
        """
        at, number, row, before = self.end, self.lines, len(self.ids), b""
        ids, row_of, orphans = self.ids, self.row_of, self._orphans
        add_id, add_code, add_parent = ids.append, self.codes.append, self.parents.append
        add_offset, add_size = self.offsets.append, self.sizes.append
        code_of, row_at, place, cut = self._by_role.get, row_of.get, row_of.setdefault, _MESSAGE
        first_key, second_key, third_key, fourth_key = _MESSAGE_KEYS
        for number, raw in enumerate(lines, self.lines + 1):
            size = len(raw)
            if size > _HEAD_END and at < check_from:
                first, raw_id, second, above, third, fourth, role = cut(raw)
                if (
                    first == first_key
                    and second == second_key
                    and third == third_key
                    and fourth == fourth_key
                    and raw[-2] == _BRACE
                    and (code := code_of(role)) is not None
                    and raw_id.isalnum()
                    and not orphans
                ):
                    parent = row - 1 if above == before else row_at(above.decode("latin-1"))
                    id_ = raw_id.decode()
                    if parent is not None and place(id_, row) == row:
                        add_id(id_)
                        add_code(code)
                        add_parent(parent)
                        add_offset(at)
                        add_size(size)
                        row += 1
                        before = raw_id
                        at += size
                        continue
            self.end, self.lines = at, number
            self._take(raw, at < check_from)
            row, before = len(ids), b""
            at += size
        self.end, self.lines = at, number

    def parents_first(self, total: int) -> Sequence[int]:
        """The first `total` rows, each after its parent."""
        if self._straight:
            return range(total)
        below: dict[int, list[int]] = {}
        for row in range(total):
            below.setdefault(self.parents[row], []).append(row)
        ordered = list(below.get(NO_ROW, ()))
        for row in ordered:
            ordered += below.get(row, ())
        return ordered

    def settle(self) -> None:
        """Tell of parents that never came. Called when a whole file has been read."""
        for waiting in self._orphans.values():
            for row, line in waiting:
                self._tell("missing_parent", line, row=row)
        self.damage.sort(key=lambda one: one.line)

    def _take(self, raw: bytes, trusted: bool) -> None:
        """Any line: by its head where that says all and is trusted, else decoded; damage told."""
        head = _HEAD(raw) if trusted and raw.endswith(b"}\n") else None
        if head is not None and (head[4] is not None or head[1] != b"message"):
            row = self._place(_head_kind(head), head[2].decode(), _text(head[3]), len(raw))
            self._note(raw, row)
            if head.start(4) == _ROLE_AT and head.end(4) < _HEAD_END:
                self._by_role[raw[_ROLE_AT:_HEAD_END]] = self.codes[row]
            return
        if not raw.strip():
            return
        data = decode(raw)
        if data is None:
            self._take_broken(raw)
            return
        id_ = id_text(data.get("id"))
        if data.get("type") == "session" or id_ is None:
            self._tell_bytes("not_an_entry" if id_ is None else "second_header", raw)
            return
        row = self._place(_kind_of(data), id_, id_text(data.get("parentId")), len(raw))
        self._note(raw, row, data)

    def _take_broken(self, raw: bytes) -> None:
        """A line that is no JSON object: told; where its head can be read, its place is kept."""
        whole = raw.endswith(b"\n")
        scalar = whole and raw.lstrip()[:1] in _SCALARS
        self._tell_bytes("not_an_entry" if scalar else "broken_line" if whole else "torn_tail", raw)
        head = _HEAD(raw)
        if head is not None and head[2].decode() not in self.row_of:
            row = self._place(_head_kind(head), head[2].decode(), _text(head[3]), len(raw))
            self.unreadable.add(row)

    def _place(self, kind: Kind, id_: str, above: str | None, size: int) -> int:
        """Add a row at the present line, and hang it where it belongs."""
        row = len(self.ids)
        earlier = self.row_of.get(id_)
        if earlier is not None and earlier not in self.unreadable:
            self._tell("duplicate_id", self.lines, id_=id_)
        self.ids.append(id_)
        self.codes.append(self._code(kind))
        self.parents.append(NO_ROW)
        self.offsets.append(self.end)
        self.sizes.append(size)
        if above == id_ and id_ not in self.row_of:
            self._tell("parent_circle", self.lines, row=row)
        elif above is not None:
            parent = self.row_of.get(above, NO_ROW)
            self.parents[row] = parent
            if parent == NO_ROW:
                self._orphans.setdefault(above, []).append((row, self.lines))
        self.row_of[id_] = row
        for child, line in self._orphans.pop(id_, ()):
            self._adopt(child, row, line)
        return row

    def _adopt(self, child: int, parent: int, line: int) -> None:
        """Hang a row under a parent that came later, unless it would become its own ancestor."""
        above = parent
        while above >= 0:
            if above == child:
                self._tell("parent_circle", line, row=child)
                return
            above = self.parents[above]
        self.parents[child] = parent
        self._straight = False

    def _note(self, raw: bytes, row: int, data: Json | None = None) -> None:
        """Keep what the tree must know of a bookkeeping line."""
        kind = self.kind(row).type
        if kind not in _NOTED or (kind == "custom" and _LEAF_MARK not in raw):
            return
        data = data or decode(raw)
        if data is None:
            self._tell_bytes("broken_line", raw)
            self.unreadable.add(row)
        elif kind != "custom" or data.get("customType") == LEAF_TYPE:
            self.notes.append((row, data))

    def _code(self, kind: Kind) -> int:
        """The small number of a kind, made known to the scan as well."""
        code = self._codes.get(kind)
        if code is None:
            code = self._codes[kind] = len(self.kinds)
            self.kinds.append(kind)
        return code

    def _tell(
        self, what: DamageKind, line: int, *, row: int | None = None, id_: str | None = None
    ) -> None:
        self.damage.append(Damage(what, line, id=id_ if row is None else self.ids[row]))

    def _tell_bytes(self, what: DamageKind, raw: bytes) -> None:
        self.damage.append(Damage(what, self.lines, self.end, len(raw)))


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode()


def _head_kind(head: re.Match[bytes]) -> Kind:
    type_ = head[1].decode()
    return Kind(type_, _text(head[4]) if type_ == "message" else None)


def _kind_of(data: Json) -> Kind:
    kind, message = data.get("type"), data.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    said = role if kind == "message" and isinstance(role, str) else None
    return Kind(kind if isinstance(kind, str) else "", said)
