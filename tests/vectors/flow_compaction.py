"""Checks of `compaction/auto_compact_flow`: whole sessions around a compaction.

Where we differ on purpose (a prompt is an entry before anything slow happens; what can't be begun
is not told as begun; opening a session adds nothing), both sides are brought to one form first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from tests.session.stage import Stage, said
from tests.vectors.flow import Answers, played
from tests.vectors.runner import Case, Check

from singletree.compaction.budget import estimate_text
from singletree.errors import SingletreeError
from singletree.history.entries import CompactionEntry, Entry, MessageEntry
from singletree.messages import text_of
from singletree.model.base import ModelInfo
from singletree.session.events import (
    CompactionEnded,
    CompactionStarted,
    EntryAppended,
    SessionEvent,
)
from singletree.session.settings.keys import Settings

Row = list[str]

OPENING = ("model_change", "thinking_level_change")
"""Entries that a program adds when it opens a session or chooses a model."""

NOT_BEGUN = ("already_compacted", "nothing_to_compact")
ENDED = {"completed": "ok", "failed": "failed", "cancelled": "cancelled"}


def auto_compact_flow(case: Case) -> None:
    anyio.run(flow, case)


async def flow(case: Case) -> None:
    raw = case.input
    answers = Answers(iter(raw["turns"]), iter([raw["summary"]] * 9))
    info = ModelInfo(
        provider="p",
        id="m",
        context_window=raw["model"]["contextWindow"],
        max_output=raw["model"]["maxTokens"],
    )
    settings = Settings.model_validate(raw["settings"])
    async with played(raw["entries"], answers, info, settings) as made:
        errors = [error for text in raw["prompts"] if (error := await run(made, text))]
        got = row(made, answers, raw["prompts"])
    want = expected(case)
    assert like({**got, "errors": errors}, want) == want


async def run(made: Stage, text: str) -> str | None:
    """One prompt or one /compact; the kind of its failure."""
    if text != "/compact":
        await made.session.turns.prompt(said(text))
        await made.session.turns.wait()
        return None
    try:
        await made.session.compact()
    except SingletreeError as error:
        return "nothing_to_compact" if error.code == "nothing_to_compact" else "compaction_failed"
    return None


def row(made: Stage, answers: Answers, prompts: Sequence[str]) -> dict[str, Any]:
    path = made.session.history.path()
    types = [kind(entry) for entry in path if entry.type not in OPENING]
    events = [found for event in made.events if (found := told(event))]
    before = in_pi_order(events)
    in_pi_order(types)
    edits_first(types)
    early = sum(map(estimate_text, prompts)) if before else 0
    use = made.session.context_use()
    return {
        "events": events,
        "requests": requests(answers),
        "entry_types": types,
        "compactions": [
            {
                "tokensBefore": entry.tokens_before - early,
                "first_kept": [kind(kept), words(kept)],
            }
            for entry in path
            if isinstance(entry, CompactionEntry)
            for kept in path
            if kept.id == entry.first_kept_entry_id
        ],
        "context_roles": [m.role for m in made.session._talk.projection().messages],
        "context_usage": {"tokens": use.tokens, "window": use.window},
    }


def requests(answers: Answers) -> list[Any]:
    """Kinds and roles. Several steps of a summary that would not fit the window count as one."""
    rows = [[which, [m.role for m in request.messages]] for which, request in answers.requests]
    return [
        row for at, row in enumerate(rows) if at == 0 or row[0] == "turn" or row != rows[at - 1]
    ]


def expected(case: Case) -> dict[str, Any]:
    """What pi did, without what we leave out on purpose. Figures it calls approximate are ours."""
    want: dict[str, Any] = dict(case.expected)
    want["entry_types"] = [t for t in want["entry_types"] if t not in OPENING]
    if any(error in NOT_BEGUN for error in want["errors"]):
        want["errors"] = ["nothing_to_compact"]
        want["events"] = want["events"][:-2]
    return want


def like(got: Any, want: Any) -> Any:
    """Our figures, and `approx` where pi's is no more than that."""
    if want == "approx":
        return want if isinstance(got, int) else got
    if isinstance(got, dict) and isinstance(want, dict):
        return {key: like(value, want.get(key)) for key, value in got.items()}
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        return [like(mine, other) for mine, other in zip(got, want, strict=True)]
    return got


def in_pi_order(rows: list[Any]) -> bool:
    """Put a compaction before the prompt that it was made for; whether there was one."""
    for at in range(1, len(rows)):
        if rows[at - 1] in (["message", "user"], "message:user") and begins(rows[at]):
            last = next((i for i in range(at, len(rows)) if ends(rows[i])), at)
            rows.insert(last, rows.pop(at - 1))
            return True
    return False


def edits_first(types: list[str]) -> None:
    """Put what hides a cut answer before its compaction: we hide it when there is room."""
    for at in range(1, len(types)):
        if types[at - 1 : at + 1] == ["compaction", "context_edit"]:
            types[at - 1 : at + 1] = ["context_edit", "compaction"]


def begins(row: Row | str) -> bool:
    return row in (["start", "threshold"], "compaction")


def ends(row: Row | str) -> bool:
    return row[:2] == ["end", "threshold"] or row == "compaction"


def told(event: SessionEvent) -> Row | None:
    match event:
        case EntryAppended(MessageEntry(message=message)):
            stop = getattr(message, "stop_reason", None)
            return ["message", message.role, *([stop] if stop else [])]
        case CompactionStarted(_, reason):
            return ["start", reason]
        case CompactionEnded(_, reason, status):
            again = reason == "overflow" and status == "completed"
            return ["end", reason, ENDED[status], "will_retry" if again else "no_retry"]
        case _:
            return None


def kind(entry: Entry) -> str:
    return f"message:{entry.message.role}" if isinstance(entry, MessageEntry) else entry.type


def words(entry: Entry) -> str:
    """The beginning of what an entry says, as the vectors tell it."""
    assert isinstance(entry, MessageEntry)
    content = getattr(entry.message, "content", "")
    return text_of(content)[:12]


CHECKS: Mapping[str, Check] = {"auto_compact_flow": auto_compact_flow}
