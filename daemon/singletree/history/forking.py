"""Lines for a new session out of those of another: a path, or all that can be read.

Lines are copied as bytes and changed only where they must be: a parent, the first kept entry of a
compaction. Ids stay the same in both files. Labels leave the path and are given anew at its end.
Never touches a disk. Read next: store.py (which makes the files).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from singletree.history.bodies import Bodies
from singletree.history.entries import LabelEntry, dump
from singletree.history.jsonl import Json, decode, encode
from singletree.history.tree import SessionTree


def path_lines(tree: SessionTree, bodies: Bodies, row: int, mint: Callable[[], str]) -> list[bytes]:
    """The lines of the path to a row, joined up where labels and unreadable lines fell out."""
    lines: list[bytes] = []
    above: str | None = None
    kept: set[str] = set()
    moved: dict[str, str] = {}
    waiting: list[str] = []
    changed: list[tuple[int, Json]] = []
    for one in tree.path_rows(row):
        id_ = tree.index.ids[one]
        raw = bodies.raw(one)
        data = None if tree.index.kind(one).type == "label" else decode(raw)
        if data is None:
            waiting.append(id_)
            continue
        moved.update(dict.fromkeys(waiting, id_))
        waiting.clear()
        if data.get("type") == "compaction":
            changed.append((len(lines), data))
        lines.append(_under(raw, data, above))
        above = id_
        kept.add(id_)
    for place, data in changed:
        target = data.get("firstKeptEntryId")
        if isinstance(target, str) and target in moved:
            data["firstKeptEntryId"] = moved[target]
            lines[place] = encode(data)
    return lines + _labels(tree, bodies, kept, above, mint)


def readable_lines(tree: SessionTree, bodies: Bodies) -> Iterable[bytes]:
    """All lines that can be read, in file order, as they are."""
    for row in range(len(tree.index)):
        if row not in tree.index.unreadable:
            yield bodies.raw(row).strip() + b"\n"


def speaks(tree: SessionTree) -> bool:
    """Whether anything was said: such a session has a file."""
    said = [kind.role in ("user", "assistant") for kind in tree.index.kinds]
    return any(said[tree.index.codes[row]] for row in tree.rows())


def _under(raw: bytes, data: Json, above: str | None) -> bytes:
    """The line with another parent, or as it is."""
    if "parentId" in data and data["parentId"] == above:
        return raw.strip() + b"\n"
    data["parentId"] = above
    return encode(data)


def _labels(
    tree: SessionTree, bodies: Bodies, kept: set[str], above: str | None, mint: Callable[[], str]
) -> list[bytes]:
    """The labels of kept entries, each given anew at the time it was given."""
    lines: list[bytes] = []
    for target, label in tree.labels.items():
        if target not in kept:
            continue
        given = (bodies.json(tree.label_rows[target]) or {}).get("timestamp")
        entry = LabelEntry(
            id=mint(),
            parent_id=above,
            timestamp=given if isinstance(given, str) else "",
            target_id=target,
            label=label,
        )
        lines.append(dump(entry))
        above = entry.id
    return lines
