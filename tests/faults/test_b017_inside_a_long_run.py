"""A run that reads and reads is compacted between its steps, and goes on by itself."""

from __future__ import annotations

from pathlib import Path

from tests.faults.forgetful import Server, limits, tokens
from tests.session.stage import stage

from singletree.history.entries import CompactionEntry, MessageEntry
from singletree.messages import UserMessage
from singletree.model.scripted import call, say


async def test_no_request_is_larger_than_the_window(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in ("f1", "f2", "f3"):
        (tmp_path / "work" / name).write_text(f"{name} is here\n" * 1700)
    turns = [call("read", path=name) for name in ("f1", "f2", "f3")]
    server = Server([*turns, say("done")], window=8000)
    async with stage(tmp_path, server.model, settings=limits(1000, 1500)) as on:
        await on.say("read them all")
        path = on.session.history.path()
        kinds = [entry.type for entry in path]
        assert "compaction" in kinds
        assert kinds[-1] == "message"
        assert max(server.sizes) <= 8000
        assert max(map(tokens, server.requests)) <= 7000
        last = path[-1]
        assert isinstance(last, MessageEntry)
        assert "done" in str(last.message.dump())
        users = [e for e in on.session.history.entries().entries if _by_user(e)]
        assert len(users) == 1
        assert any(isinstance(entry, CompactionEntry) for entry in path)


def _by_user(entry: object) -> bool:
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
