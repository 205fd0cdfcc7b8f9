"""The tree of a session: look at it, go somewhere else in it, put bookmarks on it.

It travels as flat rows in the order in which they are drawn. Read next: compaction.py.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import (
    LongParams,
    Method,
    PageCursor,
    Result,
    SessionParams,
    Shape,
    ShortLine,
)

TreeFilter = Literal["default", "noTools", "userOnly", "labeled", "all"]


class TreeParams(SessionParams):
    """`search` looks in texts and labels. `around`: the page that holds this entry.

    `cursor` is the `next` of the page before, or the `prev` of the page behind.
    """

    filter: TreeFilter = "default"
    search: str | None = None
    around: str | None = None
    limit: int = Field(default=500, ge=1, le=5000)
    cursor: PageCursor | None = None


class TreeRow(Shape):
    """A line of the drawn tree. `depth` grows where the tree forks, not with every entry.

    `parentId` is the parent among the rows shown. `onPath`: the model sees this branch. `preview`
    is one line. `childCount` counts the children shown.
    """

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


class Tree(Result):
    """A page of rows. `next` is null on the last one, `prev` on the first."""

    rows: list[TreeRow]
    leaf_id: str | None
    tree_version: int
    next: str | None
    prev: str | None = None


class Summarize(Shape):
    """How to sum up the branch that is left. `replace`: the instructions stand for ours."""

    instructions: str | None = None
    replace: bool = False


class NavigateParams(LongParams):
    """Where to go, by entry id; `expectedLeafId` is where the caller believes to be.

    `summarize` true or an object writes a summary of the branch that is left.
    """

    entry_id: str
    summarize: bool | Summarize = False
    label: ShortLine | None = None
    expected_leaf_id: str | None = None


class Navigated(Result):
    """Where the leaf is now. A user's message comes back as `editorText`, to be said otherwise."""

    leaf_id: str | None
    editor_text: str | None = None
    summary_entry_id: str | None = None
    cancelled: bool = False


class LabelParams(SessionParams):
    """A bookmark on an entry, one short line; null takes it away."""

    entry_id: str
    label: ShortLine | None


class Labeled(Result):
    """The bookmark, and the entry that records it."""

    entry_id: str
    label: str | None
    label_entry_id: str


class DiffParams(SessionParams):
    """Two entries: where one was, and where one would be."""

    from_id: str = Field(alias="from")
    to_id: str = Field(alias="to")


class BranchSide(Shape):
    """One side of a fork: how many entries, the first thousands of them, and the files touched.

    Files stand as the model named them; one that was changed is not among those read.
    """

    count: int
    entry_ids: list[str]
    read_files: list[str]
    modified_files: list[str]


class TreeDiff(Result):
    """What two places do not have in common; `ancestorId` is the last entry of both paths."""

    ancestor_id: str | None
    abandoned: BranchSide
    gained: BranchSide


METHODS = (
    Method(
        "agent/tree/get",
        TreeParams,
        Tree,
        "The tree as rows, by the page.",
        errors=("session_not_found", "entry_not_found"),
    ),
    Method(
        "agent/tree/navigate",
        NavigateParams,
        Navigated,
        "Go on from another entry of the same session. Nothing is lost: the branch that is left "
        "stays in the file. On a user's message the leaf becomes its parent and the text comes "
        "back. With a summary it takes a model call; cancelled, nothing has moved.",
        errors=("session_busy", "entry_not_found", "stale", "cancelled_by_extension"),
    ),
    Method(
        "agent/tree/label",
        LabelParams,
        Labeled,
        "Put a bookmark on an entry, or take it away.",
        errors=("session_not_found", "entry_not_found"),
    ),
    Method(
        "agent/tree/diff",
        DiffParams,
        TreeDiff,
        "What going from one entry to another would leave and gain.",
        errors=("session_not_found", "entry_not_found"),
    ),
)
