"""kill -9 at any moment: what was acknowledged is in the file, and the file goes on being good."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from tests.daemon.real import Place, daemon, opened, place, prompt
from tests.scenario import check_accepted

from singletree.context.accept import accepted
from singletree.context.projection import project, to_llm
from singletree.history.store import Store
from singletree.messages import UserMessage, text_of

ROUNDS = 200
LANES = 4
LONGEST = 0.9
"""Seconds: about as long as the turn below takes, so that kills fall all over it."""

TURN = (
    {"text": "I look at it. " * 40, "chunk": 14, "pause": 0.002, "call": "bash",
     "args": {"command": "echo one; sleep 0.1; echo two"}},
    {"thinking": "hm", "calls": [{"tool": "read", "args": {"path": "a.txt"}},
                                 {"tool": "write", "args": {"path": "b.txt", "content": "x"}},
                                 {"tool": "bash", "args": {"command": "sleep 0.2"}}]},
    {"text": "It is done. " * 60, "chunk": 12, "pause": 0.002},
    {"loop": True},
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_killed_daemon_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    lanes = [_lane(place(tmp_path / f"lane{n}"), n, ROUNDS // LANES) for n in range(LANES)]
    moments = await asyncio.gather(*lanes)
    assert sum(moments) == ROUNDS


async def _lane(where: Place, seed: int, rounds: int) -> int:
    """One session, killed again and again; the moments at which a prompt was acknowledged."""
    chance = random.Random(seed)
    (where.folder / "a.txt").write_text("hello\n")
    said: list[str] = []
    for number in range(rounds):
        words = f"prompt {seed}-{number}"
        await _killed(where, words, chance.uniform(0, LONGEST))
        said.append(words)
        _check(where, said)
    return len(said)


async def _killed(where: Place, words: str, moment: float) -> None:
    async with daemon(where, *TURN) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, words)
        await asyncio.sleep(moment)
        assert client.process is not None
        client.process.kill()
        await client.process.wait()


def _check(where: Place, said: list[str]) -> None:
    store = Store(where.agent_dir)
    path = store.latest(str(where.folder))
    assert path is not None
    history = store.open(path)
    try:
        assert [d for d in history.damage if d.kind != "torn_tail"] == []
        entries = history.path()
        messages = [getattr(entry, "message", None) for entry in entries]
        there = [text_of(m.content) for m in messages if isinstance(m, UserMessage)]
        assert there == said
        check_accepted(accepted(to_llm(project(entries).messages)))
    finally:
        history.close()
