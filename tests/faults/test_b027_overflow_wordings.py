"""An overflow is known by its many wordings: one compaction, one more request, an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.forgetful import Server, limits
from tests.model.talk import failed
from tests.session.stage import stage

from singletree.model.base import ModelRequest
from singletree.model.scripted import Turn, fail, say
from singletree.session.events import CompactionStarted, RetryChanged

OVERFLOWS = [
    "context_length_exceeded",
    "prompt is too long: 9001 tokens > 8000 maximum",
    "prompt too long; exceeded max context length by 1001 tokens",
    "request (9001 tokens) exceeds the available context size (8000 tokens)",
    "maximum context length is 8000 tokens, but you sent at least 8001 input tokens",
    "413",
    "500 context shift is disabled",
]
OTHERS = ["429 Limit 8000 tokens per min", "400 max_tokens must be <= 4096"]


def refused(text: str) -> Turn:
    error = failed(text)
    error.retry_after = 0.01
    return fail(error)


@pytest.mark.parametrize("text", OVERFLOWS)
async def test_it_is_compacted_and_asked_once_more(tmp_path: Path, text: str) -> None:
    server = Server([say("one"), refused(text), say("two")])
    async with stage(tmp_path, server.model, settings=limits(1000, 1)) as on:
        await on.say("first")
        await on.say("second")
        assert len(on.told(CompactionStarted)) == 1
        assert len(server.requests) == 3
        assert on.session.turns.last is not None
        assert on.session.turns.last.reason == "end_turn"


@pytest.mark.parametrize("text", OTHERS)
async def test_what_is_no_overflow_is_not_compacted(tmp_path: Path, text: str) -> None:
    def later(request: ModelRequest) -> Turn:
        return say("two")

    server = Server([say("one"), refused(text), later])
    async with stage(tmp_path, server.model, settings=limits(1000, 1)) as on:
        await on.say("first")
        await on.say("second")
        assert on.told(CompactionStarted) == []
        assert bool(on.told(RetryChanged)) == failed(text).retryable
