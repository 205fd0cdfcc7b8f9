"""Going elsewhere in the tree of one session, with or without a summary of what is left.

Extensions are asked first. The leaf moves last: failed, cancelled or refused, the tree is as it
was. Never touches the agent. Read next: ../../compaction/branch.py (how the summary is made),
compactor.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio.to_thread

from singletree.compaction.branch import summarize_branch
from singletree.compaction.summary import Complete
from singletree.context.projection import said
from singletree.errors import SessionError, StaleError
from singletree.extensions.api import BeforeTree, Cancel, OwnSummary
from singletree.history.entries import (
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from singletree.history.record import History
from singletree.messages import Block, UserMessage, own_words
from singletree.session.extensions.hooks import Hooks
from singletree.session.tree.conversation import Conversation

REFUSED = "An extension does not allow going there."


@dataclass(frozen=True, slots=True)
class Navigated:
    """Where the leaf is now; `editor_text` is what a left user message said."""

    leaf_id: str | None
    editor_text: str | None = None
    summary_entry_id: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for beside the target. `replace`: the instructions stand for our own form."""

    instructions: str | None = None
    replace: bool = False
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Summing:
    """Who sums up what is left, and into how many tokens of which window."""

    complete: Complete
    window: int
    reserve: int

    @property
    def budget(self) -> int:
        """Tokens of messages that are summed up."""
        return max(self.window - self.reserve, self.window // 4)


def check_leaf(talk: Conversation, expected: str | None) -> None:
    """Raise StaleError when the leaf is not where the caller believes it to be."""
    if expected is not None and expected != talk.history.leaf:
        raise StaleError(
            "The conversation has moved on; look at the tree again.",
            detail={"leafId": talk.history.leaf},
        )


async def navigate(
    talk: Conversation, hooks: Hooks, target: str, wish: Wish, summing: Summing | None
) -> Navigated:
    """Go on from `target`. With `summing`, what is left gets a summary (if anything is left)."""
    history = talk.history
    entry, old = history.entry(target), history.leaf
    if target == old:
        if wish.label is not None:
            talk.label(target, wish.label)
        return Navigated(history.leaf)
    wish, own = await _asked(history, hooks, target, wish, summing is not None)
    leaf, text = landing(history, entry)
    left: list[Entry] = []
    if summing is not None:
        left = await anyio.to_thread.run_sync(left_behind, history, old, target)
    if summing is None or not left:
        talk.move(leaf)
        if wish.label is not None:
            talk.label(target, wish.label)
        return Navigated(history.leaf, text)
    summary = await _summary(left, summing, wish, own)
    made = talk.add(
        summary.model_copy(update={"from_id": old or "root"}), after=leaf, cause="navigate"
    )
    if wish.label is not None:
        talk.label(made.id, wish.label)
    return Navigated(history.leaf, text, made.id)


def landing(history: History, entry: Entry) -> tuple[str | None, str | None]:
    """Where the leaf goes when `entry` is chosen, and the text that comes back for editing.

    A user's (or an extension's) message is to be said again: the leaf is its parent.
    """
    content: str | list[Block] | None = None
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        content = entry.message.content
    elif isinstance(entry, CustomMessageEntry):
        content = entry.content
    if content is None:
        return entry.id, None
    tree = history.tree
    return tree.id_at(tree.parent(tree.row(entry.id))), own_words(content)


def left_behind(history: History, old: str | None, target: str) -> list[Entry]:
    """The entries from where the paths meet to the old leaf, oldest first. Reads them: slow."""
    ids = history.tree.left_behind(old, target)
    return list(history.entries(ids=ids).entries)


async def _summary(
    left: list[Entry], summing: Summing, wish: Wish, own: OwnSummary | None
) -> BranchSummaryEntry:
    """An extension's summary, else a model's."""
    if own is not None:
        return BranchSummaryEntry(summary=own.text, details=own.details, from_hook=True)
    made = await summarize_branch(
        left,
        summing.complete,
        budget=summing.budget,
        window=summing.window,
        instructions=wish.instructions,
        replace=wish.replace,
    )
    return BranchSummaryEntry(
        summary=made.text, details=made.details, usage=made.usage, from_hook=False
    )


async def _asked(
    history: History, hooks: Hooks, target: str, wish: Wish, summarize: bool
) -> tuple[Wish, OwnSummary | None]:
    """What extensions make of it. Raises `cancelled_by_extension`."""
    if not hooks.hears(BeforeTree):
        return wish, None
    old = history.leaf
    left = await anyio.to_thread.run_sync(left_behind, history, old, target)
    fired = await hooks.fire(
        BeforeTree(
            target,
            old,
            history.tree.ancestor(old, target),
            tuple(message for entry in left if (message := said(entry)) is not None),
            summarize,
            wish.instructions,
            wish.label,
        )
    )
    if isinstance(fired.verdict, Cancel):
        raise SessionError(fired.verdict.reason or REFUSED, code="cancelled_by_extension")
    own = fired.verdict if isinstance(fired.verdict, OwnSummary) and summarize else None
    return Wish(fired.payload.instructions, wish.replace, fired.payload.label), own
