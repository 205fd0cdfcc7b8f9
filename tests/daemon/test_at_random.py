"""Whatever is asked, in whatever order: every promise of the protocol holds.

A seeded client does everything at once on two sessions of the real daemon, against a provider that
refuses what strict ones refuse.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, SUMMARY, asked, calls, is_summary, provided, says
from tests.daemon.real import Place, allow, daemon, deny, opened, place, text
from tests.model.fake_server import Reply, Seen, refusal
from tests.rpc.client import Message, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SEEDS = range(6)
STEPS = 250
KNOWN = {-32803, -32801, -32800, -32602}


def provider(chance: random.Random) -> Any:
    """Texts, calls, summaries, now and then a failure; some of it slowly."""
    made = iter(range(1, 1_000_000))

    def answer(seen: Seen) -> Reply:
        pause = [chance.choice([0.0, 0.0, 0.01, 0.2])]
        if is_summary(seen):
            return Reply([*pause, says(SUMMARY)])
        kind = chance.random()
        if kind < 0.05:
            return refusal(500, {"error": {"message": "boom"}})
        if kind < 0.4 and not asked(seen)[-1].startswith("tool:"):
            commands = chance.choices(["echo a", "sleep 0.2", "false", "sleep 5"], k=2)
            return Reply(
                [*pause, calls(*((f"c{next(made)}", "bash", {"command": c}) for c in commands))]
            )
        return Reply([*pause, says("word " * chance.randrange(1, 60))])

    return answer


class Somebody:
    """Does things at random and remembers what was asked."""

    def __init__(self, client: RawClient, chance: random.Random, ids: list[str]) -> None:
        self.client = client
        self.chance = chance
        self.ids = ids
        self.open: list[str | int] = []

    def ask(self, method: str, **params: Any) -> str | int:
        mid = self.client.request(f"agent/{method}", params)
        self.open.append(mid)
        return mid

    def entries(self, session_id: str) -> list[str]:
        told = [n for n in self.client.notes("agent/event") if n["sessionId"] == session_id]
        return [n["event"]["entry"]["id"] for n in told if n["event"]["type"] == "entry"]

    def step(self) -> None:
        sid = self.chance.choice(self.ids)
        known = self.entries(sid) or ["nothing"]
        what = self.chance.choice(ACTIONS)
        entry = self.chance.choice(known)
        match what:
            case "prompt":
                busy = self.chance.choice(["error", "steer", "followUp"])
                self.ask("prompt", sessionId=sid, content=text("say"), whenBusy=busy)
            case "steer" | "followUp":
                self.ask(what, sessionId=sid, content=text(what))
            case "abort":
                scope = self.chance.choice(["turn", "turn", "retry", "compaction", "branchSummary"])
                queue = self.chance.choice(["keep", "return", "drop"])
                self.ask("abort", sessionId=sid, scope=scope, queue=queue)
            case "navigate":
                summary = self.chance.random() < 0.3
                self.ask("tree/navigate", sessionId=sid, entryId=entry, summarize=summary)
            case "label":
                self.ask("tree/label", sessionId=sid, entryId=entry, label="here")
            case "compact" | "queue/clear" | "session/state" | "session/attach" | "session/wait":
                self.ask(what, sessionId=sid)
            case "thinking":
                self.ask("thinking/cycle", sessionId=sid)
            case "cancel" if self.open:
                self.client.notify("$/cancelRequest", {"id": self.chance.choice(self.open)})
            case "reopen":
                self.ask("session/close", sessionId=sid)
                self.ask("session/open", sessionId=sid)


ACTIONS = (
    *["prompt"] * 8,
    *["steer"] * 3,
    *["followUp"] * 3,
    *["abort"] * 3,
    *["navigate"] * 2,
    *["cancel"] * 3,
    "label",
    "compact",
    "queue/clear",
    "session/state",
    "session/attach",
    "session/wait",
    "thinking",
    "reopen",
)


@pytest.mark.parametrize("seed", SEEDS)
async def test_at_random(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    where, other = place(tmp_path), place(tmp_path / "other")
    where.settings(compaction={"keepRecentTokens": 50}, retry={"baseDelayMs": 20, "maxRetries": 2})
    mode = ("--mode", "ask" if seed % 2 else "allowAll")
    async with (
        provided(where, provider(random.Random(seed)), contextWindow=20_000) as fp,
        daemon(where, model=MODEL, arguments=mode) as client,
    ):
        people = random.Random(seed)
        client.reactions["agent/permission/request"] = lambda params: people.choice(
            [allow(params), allow(params), deny(params), {"result": {"outcome": "?"}}]
        )
        ids = [await opened(client, one) for one in (where, other)]
        somebody = Somebody(client, chance, ids)
        for _ in range(STEPS):
            somebody.step()
            if chance.random() < 0.5:
                await asyncio.sleep(chance.choice([0, 0.005, 0.05]))
        for mid in somebody.open:
            await client.answer(mid, 60)
        for one in (where, other):
            sid = await opened(client, one)
            client.request("agent/abort", {"sessionId": sid})
            await client.call("agent/session/wait", {"sessionId": sid}, 60)
            state = await client.call("agent/session/state", {"sessionId": sid})
            listed = await client.call("agent/queue/list", {"sessionId": sid})
            assert state["queue"] == listed
            assert (state["phase"], state["pending"]) == ("idle", [])
        _answers(client, somebody)
        _events(client)
        _turns(client)
        assert client.broken is None
        assert [s for s in fp.seen if s.body is None] == []
        assert await client.call("shutdown", seconds=30) is None
    _files(where)


def _answers(client: RawClient, somebody: Somebody) -> None:
    """One answer each, no fault of the daemon's."""
    counts = Counter(f["id"] for f in client.frames if "method" not in f)
    assert set(counts.values()) == {1}
    errors = [f["error"] for f in client.frames if "error" in f]
    assert [e for e in errors if e["code"] not in KNOWN] == []


def _events(client: RawClient) -> None:
    """Numbered without a hole, each life of a session by itself."""
    lives: dict[str, list[int]] = defaultdict(list)
    for note in client.notes("agent/event"):
        lives[note["epoch"]].append(note["seq"])
    for numbers in lives.values():
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _turns(client: RawClient) -> None:
    """Each turn begins once and ends once, one at a time, and no request was refused as broken."""
    running: dict[str, str] = {}
    ended: list[str] = []
    for note in client.notes("agent/event"):
        event, sid = note["event"], note["sessionId"]
        if event["type"] == "turn_started":
            assert sid not in running
            running[sid] = event["turnId"]
        elif event["type"] == "turn_ended":
            assert running.pop(sid) == event["turnId"]
            ended.append(event["turnId"])
            provider = event.get("error", {}).get("provider", {})
            assert provider.get("status") != 400, event
        elif event["type"] == "item_started":
            assert sid in running
    assert running == {}
    assert len(ended) == len(set(ended)) > 0


def _files(where: Place) -> None:
    """Every line parses, every parent is there, no id twice."""
    for path in where.agent_dir.glob("sessions/*/*.jsonl"):
        entries: list[Message] = [json.loads(line) for line in path.read_bytes().splitlines()][1:]
        ids = [entry["id"] for entry in entries]
        assert len(ids) == len(set(ids))
        assert {entry["parentId"] for entry in entries} <= {*ids, None}
