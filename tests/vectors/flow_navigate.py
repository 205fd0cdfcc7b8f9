"""Checks of `branch_summary/navigate` and `/fork`: moving about in a real session.

Opening a session adds nothing with us, an unknown id is an error, and between two blocks of a
message that comes back to be edited stands a line break. A label for the very leaf is set, where pi
ignores it: that is left out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from tests.session.stage import Stage
from tests.vectors.flow import Answers, played
from tests.vectors.runner import Case, Check
from tests.vectors.test_session import opened, store

from singletree.errors import SessionError, SingletreeError, UnknownEntry
from singletree.history.entries import BranchSummaryEntry, Entry, LabelEntry
from singletree.model.base import ModelInfo
from singletree.session.events import EntryAppended
from singletree.session.settings.keys import Settings
from singletree.session.tree.navigation import Navigated


def navigate(case: Case) -> None:
    anyio.run(flow, case)


async def flow(case: Case) -> None:
    raw = case.input
    answers = Answers(iter(()), iter(raw["model_answers"] * 9))
    info = ModelInfo(provider="p", id="m")
    async with played(raw["entries"], answers, info, Settings()) as made:
        names: dict[str, str] = {}
        results = []
        for step in raw["steps"]:
            asked = len(answers.requests)
            result = await moved(made, step, names)
            if "error" not in result:
                result["requests"] = len(answers.requests) - asked
            results.append(result)
        added = [row for entry in new(made) if (row := added_row(entry, names))]
    want = case.expected
    assert plain(results) == plain(want["results"])
    assert added == want["added"]


async def moved(made: Stage, step: Any, names: dict[str, str]) -> dict[str, Any]:
    options = step.get("options", {})
    history = made.session.history
    label = None if step["target"] == history.leaf else options.get("label")
    try:
        result = await made.session.navigate(
            step["target"], summarize=options.get("summarize", False), label=label
        )
    except UnknownEntry:
        return {"error": "not_found", "leaf": named(history.leaf, names)}
    except SingletreeError as error:
        if error.detail.get("summary") != "aborted":
            return {"error": "summary_failed", "leaf": named(history.leaf, names)}
        return {
            **told(made, Navigated(history.leaf), names),
            "cancelled": True,
            "aborted": True,
        }
    return told(made, result, names)


def told(made: Stage, result: Navigated, names: dict[str, str]) -> dict[str, Any]:
    for entry in new(made):
        names.setdefault(entry.id, f"$new{len(names) + 1}")
    summary = result.summary_entry_id
    return {
        "cancelled": False,
        "editor_text": result.editor_text,
        "leaf": named(made.session.history.leaf, names),
        "summary_entry": summary_row(made, summary, names) if summary else None,
        "context_roles": [m.role for m in made.session._talk.projection().messages],
    }


def summary_row(made: Stage, entry_id: str, names: dict[str, str]) -> dict[str, Any]:
    entry = made.session.history.entry(entry_id)
    assert isinstance(entry, BranchSummaryEntry)
    return {
        "id": named(entry.id, names),
        "parent": named(entry.parent_id, names),
        "from": named(entry.from_id, names),
        "details": entry.details,
    }


def new(made: Stage) -> list[Entry]:
    """Entries made by us that pi makes too, in order; where the leaf stands is not one of them."""
    appended = (event.entry for event in made.events if isinstance(event, EntryAppended))
    return [entry for entry in appended if isinstance(entry, BranchSummaryEntry | LabelEntry)]


def added_row(entry: Entry, names: dict[str, str]) -> dict[str, Any] | None:
    row = {
        "type": entry.type,
        "id": named(entry.id, names),
        "parentId": named(entry.parent_id, names),
    }
    if isinstance(entry, LabelEntry):
        row |= {"targetId": named(entry.target_id, names), "label": entry.label}
    return row


def named(entry_id: str | None, names: Mapping[str, str]) -> str | None:
    return None if entry_id is None else names.get(entry_id, entry_id)


def plain(results: list[Any]) -> list[Any]:
    return [
        {
            key: value.replace("\n", "") if key == "editor_text" and value else value
            for key, value in result.items()
        }
        for result in results
    ]


def fork(case: Case) -> None:
    with store() as at:
        history = opened(at, case.input["entries"])
        before = history.file.read_bytes()
        try:
            forked = at.fork(history, case.input["target"], case.input["position"])
        except SessionError as error:
            unknown = isinstance(error, UnknownEntry)
            assert unknown or error.code == "not_a_user_message"
            assert case.expected["error"] in ("invalid_entry", "not_found" if unknown else "")
            return
        text = forked.text
        assert {
            "cancelled": False,
            "selected_text": text and text.replace("\n", ""),
            "kept_entries": [entry.id for entry in forked.history.path()],
            "new_file": forked.history.file != history.file,
            "parent_session_set": forked.history.header.parent_session == str(history.file),
            "source_unchanged": history.file.read_bytes() == before,
        } == case.expected


CHECKS: Mapping[str, Check] = {"navigate": navigate, "fork": fork}
