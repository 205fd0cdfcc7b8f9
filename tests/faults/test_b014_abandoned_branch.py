"""A branch that was left is not in the context any more, nor in a summary of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.forgetful import Server, limits
from tests.session.stage import Stage, stage

from singletree.history.entries import BranchSummaryEntry, MessageEntry
from singletree.model.base import ModelRequest
from singletree.model.scripted import say


def holds(request: ModelRequest, words: str) -> bool:
    return any(words in str(message.dump()) for message in request.messages)


async def talked(on: Stage) -> str:
    """Say the secret on a branch; the id of the answer before it."""
    await on.say("hello")
    before = on.session.history.leaf
    await on.say("the code is K7Q")
    assert before is not None
    return before


@pytest.mark.parametrize("summarize", [False, True])
async def test_the_secret_stays_on_its_branch(tmp_path: Path, summarize: bool) -> None:
    server = Server([say("ok"), say("noted"), say("I do not know")])
    async with stage(tmp_path, server.model, settings=limits(1000, 1)) as on:
        before = await talked(on)
        await on.session.navigate(before, summarize=summarize)
        assert len(server.summaries) == int(summarize)
        await on.say("what was the code?")
        assert not holds(server.requests[-1], "K7Q")
        await on.session.compact()
        assert not holds(server.summaries[-1], "K7Q")
        path = on.session.history.path()
        assert sum(isinstance(entry, BranchSummaryEntry) for entry in path) == int(summarize)
        said = [e for e in path if isinstance(e, MessageEntry) and "K7Q" in str(e.message.dump())]
        assert said == []
