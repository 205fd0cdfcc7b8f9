"""A tree as chapters that can be read one after the other.

The first chapter is the active path; every other branch is a chapter of its own that says where it
leaves which entry. Works on rows, never on bodies, never recursively, so a tree may be as deep and
as broad as it likes. Read next: page.py (which draws them), markdown.py (the first one alone).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from singletree.history.index import NO_ROW
from singletree.history.tree import SessionTree


@dataclass(frozen=True, slots=True)
class Chapter:
    """Rows that follow each other. `after`: the row it branches off from; NO_ROW for a root."""

    rows: tuple[int, ...]
    after: int = NO_ROW
    active: bool = False


def chapters(tree: SessionTree) -> list[Chapter]:
    """The active path, then every other branch in the order of the file."""
    below: dict[int, list[int]] = {}
    for row in tree.rows():
        below.setdefault(tree.parent(row), []).append(row)
    path = tuple(tree.path_rows(tree.leaf_row))
    first = Chapter(path, NO_ROW, active=True)
    told = set(path)
    starts = [row for row in tree.rows() if _starts(row, tree, below, told)]
    others = [Chapter(tuple(_onward(row, below)), tree.parent(row)) for row in starts]
    return [first, *others] if path else others


def leaving(all_of_them: list[Chapter]) -> dict[int, list[int]]:
    """Row -> numbers of the chapters that branch off from it."""
    found: dict[int, list[int]] = {}
    for number, chapter in enumerate(all_of_them):
        if not chapter.active:
            found.setdefault(chapter.after, []).append(number)
    return found


def _starts(row: int, tree: SessionTree, below: dict[int, list[int]], told: set[int]) -> bool:
    """Whether a row begins a chapter: one that no chapter goes on to."""
    if row in told:
        return False
    above = tree.parent(row)
    return above == NO_ROW or above in told or below[above][-1] != row


def _onward(row: int, below: dict[int, list[int]]) -> Iterator[int]:
    """From a row on, always to what was added last."""
    while True:
        yield row
        after = below.get(row)
        if not after:
            return
        row = after[-1]
