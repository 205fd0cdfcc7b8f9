"""The tree: its rows, going elsewhere in it, bookmarks; forgetting on request."""

from __future__ import annotations

from functools import partial

from anyio import to_thread

from singletree.history.outline import RowPage
from singletree.history.reading import Reading
from singletree.rpc.daemon import Daemon
from singletree.rpc.plain.progress import shown
from singletree.rpc.protocol.compaction import Compacted, CompactParams
from singletree.rpc.protocol.tree import (
    BranchSide,
    DiffParams,
    Labeled,
    LabelParams,
    Navigated,
    NavigateParams,
    Summarize,
    Tree,
    TreeDiff,
    TreeParams,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import rows_that_fit, tree_row
from singletree.rpc.telling.wire import compacted
from singletree.session.tree.difference import Side, difference

SHOWN = 2000
"""Entries and files of one side of a difference that are told."""


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/tree/get": Route(TreeParams, partial(_get, daemon)),
        "agent/tree/navigate": Route(NavigateParams, partial(_navigate, daemon)),
        "agent/tree/label": Route(LabelParams, partial(_label, daemon)),
        "agent/tree/diff": Route(DiffParams, partial(_diff, daemon)),
        "agent/compact": Route(CompactParams, partial(_compact, daemon)),
    }


async def _get(daemon: Daemon, params: TreeParams, call: Call) -> Tree:
    history = (await daemon.session(params, call)).history
    found = await to_thread.run_sync(_page, history, params)
    return Tree(
        rows=[tree_row(row) for row in found.rows],
        leaf_id=found.leaf_id,
        tree_version=found.tree_version,
        next=None if found.next is None else str(found.next),
        prev=None if found.previous is None else str(found.previous),
    )


def _page(history: Reading, params: TreeParams) -> RowPage:
    """As many rows as fit a message. A search reads every entry, so this is no work for a loop."""

    def page(limit: int) -> RowPage:
        return history.rows(
            params.filter,
            search=params.search,
            around=params.around if params.cursor is None else None,
            start=int(params.cursor or 0),
            limit=limit,
        )

    found = page(params.limit)
    fit = rows_that_fit(found.rows)
    return found if fit >= len(found.rows) else page(fit)


async def _navigate(daemon: Daemon, params: NavigateParams, call: Call) -> Navigated:
    session = await daemon.session(params, call)
    asked = params.summarize
    how = asked if isinstance(asked, Summarize) else Summarize()
    async with shown(call.peer, params.work_done_token, "Summing up the branch"):
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


async def _diff(daemon: Daemon, params: DiffParams, call: Call) -> TreeDiff:
    history = (await daemon.session(params, call)).history
    found = await to_thread.run_sync(difference, history, params.from_id, params.to_id)
    return TreeDiff(
        ancestor_id=found.ancestor_id,
        abandoned=_side(found.abandoned),
        gained=_side(found.gained),
    )


def _side(side: Side) -> BranchSide:
    return BranchSide(
        count=len(side.entry_ids),
        entry_ids=list(side.entry_ids[:SHOWN]),
        read_files=list(side.read_files[:SHOWN]),
        modified_files=list(side.modified_files[:SHOWN]),
    )


async def _compact(daemon: Daemon, params: CompactParams, call: Call) -> Compacted:
    session = await daemon.session(params, call)
    async with shown(call.peer, params.work_done_token, "Compacting"):
        made = await session.compact(params.instructions)
    return Compacted.model_validate(compacted(made))
