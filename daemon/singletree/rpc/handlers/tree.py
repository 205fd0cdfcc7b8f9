"""The tree: its rows, going elsewhere in it, bookmarks; forgetting on request."""

from __future__ import annotations

from functools import partial

from singletree.history.outline import RowPage
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.compaction import Compacted, CompactParams, FileLists
from singletree.rpc.protocol.tree import (
    Labeled,
    LabelParams,
    Navigated,
    NavigateParams,
    Summarize,
    Tree,
    TreeParams,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.views import rows_that_fit, tree_row, usage


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/tree/get": Route(TreeParams, partial(_get, daemon)),
        "agent/tree/navigate": Route(NavigateParams, partial(_navigate, daemon)),
        "agent/tree/label": Route(LabelParams, partial(_label, daemon)),
        "agent/compact": Route(CompactParams, partial(_compact, daemon)),
    }


async def _get(daemon: Daemon, params: TreeParams, call: Call) -> Tree:
    history = (await daemon.session(params, call)).history

    def page(limit: int) -> RowPage:
        return history.rows(
            params.filter,
            search=params.search,
            around=params.around,
            start=_start(params.cursor),
            limit=limit,
        )

    found = page(params.limit)
    if (fit := rows_that_fit(found.rows)) < len(found.rows):
        found = page(fit)
    return Tree(
        rows=[tree_row(row) for row in found.rows],
        leaf_id=history.leaf,
        tree_version=history.tree_version,
        next=None if found.next is None else str(found.next),
    )


async def _navigate(daemon: Daemon, params: NavigateParams, call: Call) -> Navigated:
    session = await daemon.session(params, call)
    asked = params.summarize
    how = asked if isinstance(asked, Summarize) else Summarize()
    async with daemon.progress(params.work_done_token, call, "Summing up the branch"):
        gone = await session.navigate(
            params.entry_id,
            summarize=asked is not False,
            instructions=how.instructions,
            replace=how.replace,
            label=params.label,
            expected_leaf_id=params.expected_leaf_id,
        )
    return Navigated(
        leaf_id=gone.leaf_id,
        editor_text=gone.editor_text,
        summary_entry_id=gone.summary_entry_id,
    )


async def _label(daemon: Daemon, params: LabelParams, call: Call) -> Labeled:
    session = await daemon.session(params, call)
    made = session.label(params.entry_id, params.label)
    return Labeled(
        entry_id=params.entry_id,
        label=session.history.labels.get(params.entry_id),
        label_entry_id=made,
    )


async def _compact(daemon: Daemon, params: CompactParams, call: Call) -> Compacted:
    session = await daemon.session(params, call)
    async with daemon.progress(params.work_done_token, call, "Compacting"):
        made = await session.compact(params.instructions)
    return Compacted(
        entry_id=made.entry_id,
        summary=made.summary,
        first_kept_entry_id=made.first_kept_entry_id,
        tokens_before=made.tokens_before,
        tokens_after_estimate=made.tokens_after,
        usage=usage(made.usage),
        details=FileLists(
            read_files=list(made.read_files), modified_files=list(made.modified_files)
        ),
    )


def _start(cursor: str | None) -> int:
    return int(cursor) if cursor is not None and cursor.isdigit() else 0
