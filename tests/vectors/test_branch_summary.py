"""The family `branch_summary`: what is left behind, what of it fits, what is asked for."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.vectors import flow_navigate, runner
from tests.vectors.runner import Case
from tests.vectors.test_compaction import Player, entries, tagged
from tests.vectors.test_session import opened, store
from tests.vectors.wording import marked

from singletree.compaction.branch import prepare_branch, summarize_branch
from singletree.compaction.prompts import SECTIONS
from singletree.compaction.summary import Summary
from singletree.errors import ModelError, UnknownEntry

FAMILY = "branch_summary"
OURS_ALONE = "## Critical Context"
"""pi's branch summaries have five sections, ours have the six of a compaction."""
WINDOW = 128_000
"""Of a model that tells none."""
ABORTED = ({"aborted": True}, {"error": "aborted"})
"""No summary was made, whichever way it is told."""


def collect(case: Case) -> None:
    """An id that does not exist is an error with us; pi takes it for no entry at all."""
    ids = {raw["id"] for raw in case.input["entries"]}
    with store() as at:
        tree = opened(at, case.input["entries"]).tree
        for pair, want in zip(case.input["pairs"], case.expected, strict=True):
            if unknown := {one for one in pair if one is not None} - ids:
                with pytest.raises(UnknownEntry, match=unknown.pop()):
                    tree.ancestor(*pair), tree.left_behind(*pair)
            old, new = (one if one in ids else None for one in pair)
            found = {
                "entries": tree.left_behind(old, new),
                "common_ancestor": tree.ancestor(old, new),
            }
            assert found == want


def prepare(case: Case) -> None:
    line = entries(case.input["entries"])
    rows = []
    for budget in case.input["budgets"]:
        found = prepare_branch(line, budget or None)
        rows.append(
            {
                "messages": [
                    [source, message.role]
                    for source, message in zip(found.sources, found.messages, strict=True)
                ],
                "total_tokens": found.tokens,
                "read": sorted(found.touched.read),
                "written": sorted(found.touched.written),
                "edited": sorted(found.touched.edited),
                "read_files": list(found.touched.read_files),
                "modified_files": list(found.touched.modified_files),
            }
        )
    assert rows == case.expected


def generate(case: Case) -> None:
    player = Player(case.input["responses"])

    async def run() -> Summary:
        return await summarize_branch(
            entries(case.input["entries"]),
            player.complete,
            budget=(case.input["model"]["contextWindow"] or WINDOW) - case.input["reserve_tokens"],
            instructions=case.input["custom_instructions"],
            replace=case.input["replace_instructions"],
        )

    want = case.expected["outcome"]
    try:
        summary = anyio.run(run)
    except ModelError as error:
        reason = str(error.detail["summary"])
        if reason == "aborted":
            assert want in ABORTED
        else:
            assert {"error": {"error": "provider_error"}.get(reason, reason)} == want
    else:
        text = marked(summary.text.replace(Player.padding(" ".join(SECTIONS)), ""))
        asked = bool(player.prompts)
        assert {
            "summary": text,
            "read_files": list(summary.read_files) if asked else None,
            "modified_files": list(summary.modified_files) if asked else None,
            "usage_total": summary.usage.total_tokens if asked else None,
        } == want
    wanted = case.expected["requests"]
    assert [row(prompt) for prompt in player.prompts] == [
        {key: request[key] for key in ("conversation", "instructions")} for request in wanted
    ]


def row(prompt: str) -> dict[str, Any]:
    """A prompt of ours in the vectors' form."""
    conversation, instructions = tagged(prompt, "conversation")
    headings = [line for line in instructions.splitlines() if line.startswith("#")]
    assert not headings or OURS_ALONE in headings
    told: dict[str, Any] = {"headings": [h for h in headings if h != OURS_ALONE]}
    return {
        "conversation": marked(conversation),
        "instructions": told if headings else {"replaced_by": instructions},
    }


CHECKS: dict[str, runner.Check] = {
    **flow_navigate.CHECKS,
    "collect": collect,
    "prepare": prepare,
    "generate": generate,
}


def test_branch_summary() -> None:
    failed = runner.run(FAMILY, CHECKS)
    assert failed == [], "\n".join(failed[:5])
