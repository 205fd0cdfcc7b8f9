"""A window that reloads, at any moment: the same session in the same state, with no hole."""

from __future__ import annotations

import asyncio
import random

import pytest
from tests.daemon.mirror import Mirror, come_back
from tests.daemon.real import events, opened, prompt, settled, tells, text
from tests.daemon.shared import Shared, shared
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WORDS = "".join(f"word {n}, " for n in range(400))
TURN = (
    {"thinking": "Let me see. " * 30, "chunk": 8, "pause": 0.005, "call": "bash",
     "args": {"command": "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.1; done"}},
    {"text": WORDS, "chunk": 9, "pause": 0.005},
    {"loop": True},
)  # fmt: skip


async def crash(client: RawClient) -> None:
    """The window is gone at once, and with it its bridge."""
    assert client.process is not None
    client.process.kill()
    await client.process.wait()


@pytest.mark.parametrize("seed", range(2))
async def test_no_moment_makes_a_hole(seed: int) -> None:
    moment = random.Random(seed)
    mirror = Mirror()
    reloads = 0
    with shared(*TURN, arguments=["--mode=allowAll"]) as here:
        async with here.attached() as first:
            session_id = await opened(first, here.where)
            start = await come_back(first, mirror, session_id)
            await prompt(first, session_id, "go")
            await asyncio.sleep(moment.random() * 0.3)
            await crash(first)
            mirror.follow(first.frames[start:])
        while "settled" not in mirror.types():
            async with here.attached() as again:
                start = await come_back(again, mirror, session_id)
                await asyncio.sleep(moment.random() * 0.5)
                await crash(again)
                mirror.follow(again.frames[start:])
            reloads += 1
        assert mirror.types().count("turn_ended") == 1
        assert WORDS in mirror.whole.values()
        print(f"{reloads} reloads, {mirror.deltas} deltas, {len(mirror.events)} events")


@pytest.mark.parametrize("seed", range(3))
async def test_a_prompt_sent_at_the_last_moment_is_said_once(seed: int) -> None:
    moment = random.Random(seed)
    with shared({"text": "Heard."}, {"loop": True}) as here:
        async with here.attached() as before:
            session_id = await opened(before, here.where)
        said = {"sessionId": session_id, "content": text("go"), "clientMessageId": "m1"}
        async with here.attached() as one:
            await one.call("agent/session/attach", {"sessionId": session_id})
            one.request("agent/prompt", said)
            await asyncio.sleep(moment.random() * 0.02)
            await crash(one)
        async with here.attached() as two:
            await two.call("agent/session/attach", {"sessionId": session_id})
            await two.call("agent/prompt", said)
            await settled(two, session_id)
            page = await two.call("agent/session/entries", {"sessionId": session_id})
            said_by = [e["message"]["role"] for e in page["entries"] if e["type"] == "message"]
            assert said_by == ["user", "assistant"]


async def test_the_state_is_true_after_a_reload_in_a_command() -> None:
    slow = {"call": "bash", "args": {"command": "echo begun; sleep 30"}}
    with shared(slow, {"text": "Stopped."}, arguments=["--mode=allowAll"]) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            await prompt(one, session_id, "go")
            await one.until(lambda f: f.get("params", {}).get("kind") == "toolOutput")
            await crash(one)
        async with here.attached() as two:
            whole = await two.call("agent/session/attach", {"sessionId": session_id})
            assert whole["state"]["phase"] == "running"
            assert [(t["status"], t["name"]) for t in whole["tools"]] == [("running", "bash")]
            assert [p["text"] for p in whole["inFlight"]] == ["begun\n"]
            told = await two.call("agent/abort", {"sessionId": session_id})
            assert told["aborted"]
            await settled(two, session_id)
            assert [e["reason"] for e in events(two, "turn_ended")] == ["aborted"]


@pytest.mark.parametrize("politely", [True, False])
async def test_a_compaction_goes_on_while_its_window_reloads(politely: bool) -> None:
    summary = {"text": "## Goal\nA summary. " * 20, "chunk": 10, "pause": 0.03}
    talk = {"when": "<conversation>", **summary}
    with shared({"text": "Hello."}, {"loop": True}, talk) as here:
        here.where.settings(compaction={"keepRecentTokens": 1})
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            for _ in range(2):
                await prompt(one, session_id, "hi")
                await settled(one, session_id)
            asked = one.request("agent/compact", {"sessionId": session_id})
            await one.until(lambda f: f.get("params", {}).get("kind") == "summary")
            if politely:
                assert await one.call("shutdown") is None
                assert (await one.answer(asked))["error"]["code"] == -32802
                one.notify("exit")
                await one.exit_code()
            else:
                await crash(one)
        async with here.attached() as two:
            found = await two.call("agent/session/attach", {"sessionId": session_id})
            assert found["state"]["phase"] == "compacting"
            assert [part["kind"] for part in found["inFlight"]] == ["summary"]
            await two.until(tells("compaction"), 60)
            assert [e["status"] for e in events(two, "compaction")] == ["completed"]


async def test_a_client_that_comes_as_the_daemon_ends_finds_one() -> None:
    """The daemon ends about as soon as its client is gone; who comes then is served."""
    moment = random.Random(5)
    lives: set[int] = set()
    with shared({"text": "Hello."}, {"loop": True}, arguments=["--idle=0.15"]) as here:
        for _ in range(4):
            await _visit(here, lives)
            await asyncio.sleep(0.1 + moment.random() * 0.3)
    assert len(lives) > 1
    print(f"{len(lives)} daemons served 4 clients")


async def _visit(here: Shared, lives: set[int]) -> None:
    async with here.attached() as client:
        await opened(client, here.where)
        lives.add(here.daemon.pid)
        await client.call("shutdown")
        client.notify("exit")
        assert await client.exit_code(30) == 0


async def test_sessions_nobody_hears_are_let_go_and_others_are_not() -> None:
    with shared({"text": "Hello."}, {"loop": True}, arguments=["--idle=0.4"]) as here:
        other = here.where.root / "other"
        other.mkdir()
        async with here.attached() as stays:
            kept = await opened(stays, here.where)
            async with here.attached() as goes:
                left = await opened(goes, here.where, cwd=str(other))
            await stays.until(lambda f: f.get("method") == "agent/sessions/changed", 30)
            told = {"reason": "closed", "sessionId": left}
            assert told in stays.notes("agent/sessions/changed")
            await asyncio.sleep(1)
            assert await stays.call("agent/session/state", {"sessionId": kept})
            assert await opened(stays, here.where, cwd=str(other)) != left
