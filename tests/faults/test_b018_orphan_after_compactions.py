"""A kept part that begins with a result whose call was summed up is accepted all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.faults.forgetful import Server
from tests.session.stage import stage

from singletree.history.store import Store
from singletree.messages import ToolResultMessage
from singletree.model.scripted import say
from singletree.session.events import Warned

SESSION = "0198b2c8-0000-7000-8000-000000000018"


def message(key: str, parent: str | None, **content: Any) -> dict[str, Any]:
    return entry("message", key, parent, message={"timestamp": 1, **content})


def entry(kind: str, key: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "id": key,
        "parentId": parent,
        "timestamp": "2026-01-05T08:00:00.000Z",
        **more,
    }


def calls(key: str, parent: str | None, call: str) -> dict[str, Any]:
    block = {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "x"}}
    return message(
        key,
        parent,
        role="assistant",
        content=[block],
        provider="p",
        model="m",
        stopReason="toolUse",
    )


def answers(key: str, parent: str, call: str) -> dict[str, Any]:
    text = [{"type": "text", "text": "found"}]
    return message(
        key,
        parent,
        role="toolResult",
        toolCallId=call,
        toolName="read",
        content=text,
        isError=False,
    )


def kept_from(key: str, parent: str, first: str) -> dict[str, Any]:
    return entry("compaction", key, parent, summary="S", firstKeptEntryId=first, tokensBefore=9)


FILE = [
    message("u1", None, role="user", content="one"),
    calls("a1", "u1", "c1"),
    answers("r1", "a1", "c1"),
    calls("a2", "r1", "c2"),
    kept_from("k1", "a2", "a2"),
    answers("r2", "k1", "c2"),
    message(
        "a3", "r2", role="assistant", content=[{"type": "text", "text": "so"}], stopReason="stop"
    ),
    message("u2", "a3", role="user", content="two"),
    kept_from("k2", "u2", "r2"),
]


async def test_it_is_accepted_at_the_first_try(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    path = Store(tmp_path / "agent").folder(str(folder)) / f"x_{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    head = {"type": "session", "version": 3, "id": SESSION, "cwd": str(folder)}
    before = "".join(json.dumps(line) + "\n" for line in (head, *FILE))
    path.write_text(before, encoding="utf-8")
    server = Server([say("fine")])
    async with stage(tmp_path, server.model, session_id=SESSION) as on:
        await on.say("go")
        assert len(server.requests) == 1
        sent = server.requests[0].messages
        assert not any(isinstance(m, ToolResultMessage) for m in sent)
        assert on.session.turns.last is not None
        assert on.session.turns.last.reason == "end_turn"
        await on.say("on")
        assert [e.code for e in on.events if isinstance(e, Warned)] == ["orphan_result"]
    assert path.read_text(encoding="utf-8").startswith(before)
