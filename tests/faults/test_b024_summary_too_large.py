"""A history larger than the window is summed up in steps that fit, and the session goes on."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faults.forgetful import Server, limits
from tests.session.stage import stage

from singletree.history.entries import CompactionEntry
from singletree.history.store import Store
from singletree.model.scripted import say

SESSION = "0198b2c8-0000-7000-8000-000000000024"


async def test_sixty_thousand_tokens_in_a_window_of_eight(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    path = Store(tmp_path / "agent").folder(str(folder)) / f"x_{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    lines: list[object] = [{"type": "session", "version": 3, "id": SESSION, "cwd": str(folder)}]
    for number in range(60):
        role = "assistant" if number % 2 else "user"
        text = [{"type": "text", "text": f"{number}: " + "plain words " * 333}]
        lines.append(
            {
                "type": "message",
                "id": f"e{number}",
                "parentId": f"e{number - 1}" if number else None,
                "timestamp": "2026-01-05T08:00:00.000Z",
                "message": {"role": role, "content": text, "timestamp": 1, "stopReason": "stop"},
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    server = Server([say("here we are")], window=8000)
    async with stage(tmp_path, server.model, settings=limits(2000, 2000), session_id=SESSION) as on:
        result = await on.session.compact()
        assert max(server.sizes) <= 8000
        told = "".join(str(request.messages[0].dump()) for request in server.summaries)
        assert all(f"{number}: plain" in told for number in range(56))
        assert result.tokens_before > 55_000
        assert result.tokens_after < 8000
        made = [e for e in on.session.history.path() if isinstance(e, CompactionEntry)]
        assert len(made) == 1
        await on.say("and now?")
        assert on.session.turns.last is not None
        assert on.session.turns.last.reason == "end_turn"
