"""A summary that fails or is cancelled leaves everything as it was, and is told so."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.faults.forgetful import SUMMARY, Server, limits
from tests.session.stage import Stage, stage

from singletree.errors import ModelError, SingletreeError
from singletree.history.entries import CompactionEntry
from singletree.messages import Text
from singletree.model.scripted import Turn, call, fail, say, wait
from singletree.session.events import CompactionEnded

BROKEN = {
    "500": fail(ModelError("500 Internal Server Error", retryable=True, status=500)),
    "empty": say(""),
    "cut": say("half").but(stop="length"),
}


def compactions(on: Stage) -> int:
    return sum(isinstance(entry, CompactionEntry) for entry in on.session.history.path())


async def talked(on: Stage) -> int:
    await on.say("one")
    await on.say("two")
    return on.session.state().message_count


@pytest.mark.parametrize("answer", BROKEN.values(), ids=list(BROKEN))
async def test_a_failure_changes_nothing_and_a_later_try_works(
    tmp_path: Path, answer: Turn
) -> None:
    server = Server([say("ok")], summary=answer)
    async with stage(tmp_path, server.model, settings=limits(1000, 1)) as on:
        before = await talked(on)
        with pytest.raises(SingletreeError):
            await on.session.compact()
        ended = on.told(CompactionEnded)
        assert [e.status for e in ended if isinstance(e, CompactionEnded)] == ["failed"]
        assert (compactions(on), on.session.state().message_count) == (0, before)
        await on.say("hi")
        assert len(on.told(CompactionEnded)) == 1
        server.summary = say(SUMMARY)
        await on.session.compact()
        assert compactions(on) == 1


async def test_cancelling_changes_nothing(tmp_path: Path) -> None:
    server = Server([say("ok")], summary=say("## Go").but(chunk=1) + wait(30) + say("al"))
    async with stage(tmp_path, server.model, settings=limits(1000, 1)) as on:
        await talked(on)

        async def cancel() -> None:
            await on.until(lambda: bool(server.summaries))
            await on.session.turns.abort("compaction")

        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            with pytest.raises(SingletreeError) as failure:
                await on.session.compact()
        assert failure.value.code == "cancelled"
        ended = on.told(CompactionEnded)
        assert [e.status for e in ended if isinstance(e, CompactionEnded)] == ["cancelled"]
        assert compactions(on) == 0
        await on.session.turns.prompt([Text(text="hi")])
        await on.session.turns.wait()
        assert "hi" in str(server.requests[-1].messages[-1].dump())


@pytest.mark.parametrize("answer", BROKEN.values(), ids=list(BROKEN))
async def test_one_that_fails_by_itself_is_not_tried_at_every_step(
    tmp_path: Path, answer: Turn
) -> None:
    """Once a turn; when the server is well again, the next turn is compacted."""
    steps = [call("bash", command="true")] * 4
    turns = [say("a" * 4000), say("b" * 4000), *steps, say("done"), say("done")]
    server = Server(turns, window=10_000, summary=answer)
    async with stage(tmp_path, server.model, settings=limits(7000, 300)) as on:
        await on.say("one")
        await on.say("two")
        assert of(on) == []
        await on.say("c" * 3000)
        assert [e.status for e in of(on)] == ["failed"]
        server.summary = say(SUMMARY)
        await on.say("again")
        assert [e.status for e in of(on)] == ["failed", "completed"]
        assert compactions(on) == 1


def of(on: Stage) -> list[CompactionEnded]:
    return [event for event in on.events if isinstance(event, CompactionEnded)]
