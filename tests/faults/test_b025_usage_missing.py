"""Where a server counts nothing the size is estimated, and compaction starts all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.forgetful import Server, counted, limits
from tests.session.stage import stage

from singletree.messages import Usage
from singletree.model.scripted import Turn, say
from singletree.session.events import CompactionEnded

ANSWER = "many words " * 300


@pytest.mark.parametrize(
    "answer",
    [
        say(ANSWER),
        counted(say(ANSWER), 0),
        counted(say(ANSWER), 0).but(stop="stop"),
        say(ANSWER).but(usage=Usage(output=50)),
    ],
    ids=["none", "zeros", "zeros with a stop", "the answer alone"],
)
async def test_compaction_starts(tmp_path: Path, answer: Turn) -> None:
    server = Server([answer], window=6000)
    async with stage(tmp_path, server.model, settings=limits(1500, 1000)) as on:
        for number in range(8):
            await on.say(f"question {number}")
        ended = on.told(CompactionEnded)
        assert ended
        assert all(isinstance(e, CompactionEnded) and e.status == "completed" for e in ended)
        assert max(server.sizes) <= 6000
        assert on.session.context_use().window == 6000


async def test_an_aborted_answer_is_no_measure(tmp_path: Path) -> None:
    server = Server([counted(say("one"), 700), counted(say("two"), 0).but(stop="aborted")])
    async with stage(tmp_path, server.model) as on:
        await on.say("a")
        await on.say("b" * 40)
        assert on.session.context_use().tokens in range(710, 713)
