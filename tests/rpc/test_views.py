"""Pages of the tree fit one message, however long their rows are."""

from __future__ import annotations

from dataclasses import replace

from pydantic_core import to_json

from singletree.history.outline import Row
from singletree.rpc.telling.views import PAGE_BYTES, rows_that_fit, tree_row

ROW = Row(
    entry_id="0123abcd",
    type="thinking_level_change",
    role="compactionSummary",
    timestamp="2026-01-01T00:00:00.000Z",
    depth=1234,
    parent_id="0123abcd",
    on_path=False,
    is_leaf=False,
    label="a label",
    preview="語" * 200,
    child_count=12345,
)


def test_the_rows_that_fit_do() -> None:
    rows = [ROW] * 5000
    fit = rows_that_fit(rows)
    assert 400 < fit < 5000
    assert len(to_json([tree_row(row).dump() for row in rows[:fit]])) <= PAGE_BYTES


def test_few_rows_all_fit_and_a_huge_one_comes_alone() -> None:
    assert rows_that_fit([]) == 0
    assert rows_that_fit([ROW, ROW]) == 2
    assert rows_that_fit([replace(ROW, preview="x" * PAGE_BYTES), ROW]) == 1
