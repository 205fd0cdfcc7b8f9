"""A plan becomes a summary: what stands for the messages that are given up.

Summarises history and, where a turn is split, its beginning; lists the files touched. Leaves
nothing behind when it fails. Never decides when, never appends. Read next: branch.py, its sibling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import JsonValue

from singletree.compaction.flatten import flatten
from singletree.compaction.plan import Plan
from singletree.compaction.prompts import HISTORY, TURN, TURN_HEADING
from singletree.compaction.touched import MODIFIED_TAG, READ_TAG, Touched
from singletree.compaction.writer import Complete, Completion, Writer
from singletree.errors import SessionError
from singletree.messages import Usage

__all__ = ["Complete", "Completion", "Summary", "summarize"]

_TAG = re.compile(f"</?(?:{READ_TAG}|{MODIFIED_TAG})>")

NOTHING_KEPT = "The plan names no entry that is kept."
NOTHING_TOLD = "Nothing was said before this point."


@dataclass(frozen=True, slots=True)
class Summary:
    """What an entry needs: the text (with the files at its end), the files, what it cost.

    `missing`: headings the model left out though asked twice; the text was taken as it is.
    """

    text: str
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]
    usage: Usage
    missing: tuple[str, ...] = ()

    @property
    def details(self) -> dict[str, JsonValue]:
        """The entry's details."""
        details: dict[str, JsonValue] = {
            "readFiles": list(self.read_files),
            "modifiedFiles": list(self.modified_files),
        }
        if self.missing:
            details["missingSections"] = list(self.missing)
        return details


async def summarize(
    plan: Plan,
    complete: Complete,
    *,
    window: int | None = None,
    instructions: str | None = None,
) -> Summary:
    """The summary of a plan. No request is larger than `window`; ModelError where it fails.

    `instructions`: what the user wants the summary to dwell on.
    """
    if not plan.first_kept_id:
        raise SessionError(NOTHING_KEPT)
    writer = Writer(complete, window, instructions)
    previous = without_files(plan.previous) if plan.previous else None
    history = await writer.write(flatten(plan.messages), HISTORY, previous)
    turn = await writer.write(flatten(plan.prefix), TURN, None)
    told = [history.text] if history.text else []
    if turn.text:
        told.append(f"{TURN_HEADING}\n\n{turn.text}")
    text = "\n\n---\n\n".join(told) or NOTHING_TOLD
    return finished(text, plan.files, history.usage + turn.usage, history.missing)


def finished(text: str, files: Touched, usage: Usage, missing: tuple[str, ...] = ()) -> Summary:
    """A summary with its list of files."""
    return Summary(
        without_files(text) + files.block(), files.read_files, files.modified_files, usage, missing
    )


def without_files(text: str) -> str:
    """A summary without the lists at its end: they are made anew each time."""
    tags = list(_TAG.finditer(text))
    end = len(text)
    while len(tags) > 1 and not text[tags[-1].end() : end].strip():
        first, last = tags[-2:]
        if first[0].startswith("</") or not last[0].startswith("</"):
            break
        end = first.start()
        del tags[-2:]
    return text if end == len(text) else text[:end].rstrip()
