"""A branch that is left becomes a summary on the new position.

Takes the newest messages into a budget, without tool results; files are collected over the whole
branch. Never moves the leaf. Read next: ../session/tree/navigation.py, which does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from singletree.compaction.budget import estimate
from singletree.compaction.flatten import flatten
from singletree.compaction.prompts import BRANCH, BRANCH_PREAMBLE, NOTHING, replaced
from singletree.compaction.summary import Summary, finished, without_files
from singletree.compaction.touched import Touched
from singletree.compaction.writer import Complete, Writer
from singletree.context.projection import edited, edits_of, said, summary_message
from singletree.history.entries import BranchSummaryEntry, CompactionEntry, Entry
from singletree.messages import AgentMessage, ToolResultMessage, Usage

SUMMARY_SHARE = 0.9
"""A summary among the entries may exceed the budget once, while less than this share is used."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What of a branch is told: `messages` oldest first, within the budget.

    `touched`: files of these messages and of nested branch summaries; `carried`: all others known
    of, from messages beyond the budget and from compactions.
    """

    messages: tuple[AgentMessage, ...]
    sources: tuple[str, ...]
    tokens: int
    touched: Touched
    carried: Touched

    @property
    def files(self) -> Touched:
        """All files known of."""
        return self.touched | self.carried


def prepare_branch(entries: Sequence[Entry], budget: int | None) -> Branch:
    """What fits of the entries of a branch (oldest first); `budget` None: all of it."""
    rows = _rows(entries)
    touched = carried = Touched()
    for entry in entries:
        if isinstance(entry, BranchSummaryEntry) and not entry.from_hook:
            touched |= Touched.told(entry.details)
        elif isinstance(entry, CompactionEntry) and not entry.from_hook:
            carried |= Touched.told(entry.details)
    carried |= Touched.by(message for _, message in rows)
    taken: list[tuple[Entry, AgentMessage]] = []
    total = 0
    for entry, message in reversed(rows):
        touched |= Touched.by((message,))
        size = estimate(message)
        if budget is not None and total + size > budget:
            if _is_summary(entry) and total < budget * SUMMARY_SHARE:
                taken.append((entry, message))
                total += size
            break
        taken.append((entry, message))
        total += size
    taken.reverse()
    return Branch(
        messages=tuple(message for _, message in taken),
        sources=tuple(entry.id for entry, _ in taken),
        tokens=total,
        touched=touched,
        carried=carried,
    )


async def summarize_branch(
    entries: Sequence[Entry],
    complete: Complete,
    *,
    budget: int | None = None,
    window: int | None = None,
    instructions: str | None = None,
    replace: bool = False,
) -> Summary:
    """The summary of the entries that are left behind (oldest first).

    `instructions` add a focus, or stand in place of our own where `replace` is set.
    """
    branch = prepare_branch(entries, budget)
    if not branch.messages:
        return finished(NOTHING, branch.files, Usage())
    own = replaced(instructions) if replace and instructions else BRANCH
    writer = Writer(complete, window, None if replace else instructions)
    written = await writer.write(flatten(branch.messages), own, None)
    if not written.text:
        return finished(NOTHING, branch.files, Usage())
    text = BRANCH_PREAMBLE + without_files(written.text)
    return finished(text, branch.files, written.usage, written.missing)


def _rows(entries: Sequence[Entry]) -> list[tuple[Entry, AgentMessage]]:
    """Entries with what they say; an edit reaches messages, a summary is told as it is."""
    edits = edits_of(entries)
    rows: list[tuple[Entry, AgentMessage]] = []
    for entry in entries:
        message: AgentMessage | None
        if isinstance(entry, CompactionEntry | BranchSummaryEntry):
            message = summary_message(entry)
        else:
            message = said(entry)
            if message is not None and entry.id in edits:
                message = edited(message, edits[entry.id])
        if message is not None and not isinstance(message, ToolResultMessage):
            rows.append((entry, message))
    return rows


def _is_summary(entry: Entry) -> bool:
    return isinstance(entry, CompactionEntry | BranchSummaryEntry)
