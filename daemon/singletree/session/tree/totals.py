"""What a whole session took, all branches: tokens and money by model.

Counts answers (failed and aborted ones too), summaries and usage entries. Reads the file: call it
in a worker thread. Read next: ../turn/recorder.py (the same for one turn).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
    UsageEntry,
)
from singletree.history.record import History
from singletree.messages import AssistantMessage, Usage

OTHER = "summaries"
"""Under this name stand summaries, whose entries do not tell the model."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Answers and what they took."""

    answers: int = 0
    usage: Usage = field(default_factory=Usage)

    def more(self, usage: Usage) -> Taken:
        """With one answer more."""
        return Taken(self.answers + 1, self.usage + usage)


@dataclass(frozen=True, slots=True)
class Totals:
    """Everything, and everything by `provider/id`."""

    total: Usage
    models: dict[str, Taken]


def totals(history: History) -> Totals:
    """The totals over all branches."""
    models: dict[str, Taken] = {}
    for entry in history.each("message", "compaction", "branch_summary", "usage"):
        found = _used(entry)
        if found is not None:
            ref, usage = found
            models[ref] = models.get(ref, Taken()).more(usage)
    return Totals(sum((taken.usage for taken in models.values()), Usage()), models)


def _used(entry: Entry) -> tuple[str, Usage] | None:
    match entry:
        case MessageEntry(message=AssistantMessage() as answer):
            return f"{answer.provider}/{answer.model}", answer.usage
        case CompactionEntry(usage=Usage() as usage) | BranchSummaryEntry(usage=Usage() as usage):
            return OTHER, usage
        case UsageEntry():
            return f"{entry.provider}/{entry.model}", entry.usage
        case _:
            return None
