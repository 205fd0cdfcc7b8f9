"""One editor types like a storm in a large file while a turn streams; another one waits little."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from tests.daemon.real import HELLO, events, opened, prompt, settled
from tests.daemon.shared import connected, shared
from tests.daemon.test_typing import CHANGES, LINES, change
from tests.rpc.client import Message, RawClient, frame

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

STREAM = {"text": "word ", "times": 60_000, "chunk": 5, "pause": 0.0005}
SHOWN = 40
VERSIONS = range(2, CHANGES + 2)


def reads(chance: random.Random) -> list[object]:
    """A turn that reads the file here and there."""
    places = [1, LINES // 2, LINES - 3000, *(chance.randrange(1, LINES - 3000) for _ in range(5))]
    calls = [
        {"tool": "read", "args": {"path": "large", "offset": at, "limit": SHOWN}} for at in places
    ]
    return [{"when": "check", "calls": calls}, {"text": "Read."}]


def typed(uri: str, version: int, edit: Message) -> bytes:
    """A change as it travels."""
    params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [edit]}
    return frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})


async def test_a_storm_in_one_editor_is_calm_in_another() -> None:
    chance = random.Random(7)
    text = [f"line {number} of a large file" for number in range(LINES)]
    turns = reads(chance)
    with shared(STREAM, *turns, arguments=["--mode=allowAll"]) as here:
        file = here.where.folder / "large"
        file.write_text("\n".join(text), "utf-8")
        uri, before = file.as_uri(), "\n".join(text)
        storm = b"".join(typed(uri, version, change(text, chance)) for version in VERSIONS)
        utf8 = {"general": {"positionEncodings": ["utf-32"]}}
        async with here.attached(HELLO, capabilities=utf8) as typist:
            session_id = await opened(typist, here.where)
            document = {"uri": uri, "languageId": "text", "version": 1}
            opening = {"textDocument": {**document, "text": before}}
            typist.notify("textDocument/didOpen", opening)
            await typist.call("agent/session/state", {"sessionId": session_id}, 60)
            other = await connected(here.socket)
            await opened(other, here.where)
            await prompt(other, session_id, "go")
            calm = await _ask_for(other, session_id, 0.5)
            asking = asyncio.ensure_future(_ask_on(other, session_id))
            begun = time.monotonic()
            typist.raw(storm)
            await typist.call("agent/session/state", {"sessionId": session_id}, 120)
            took = time.monotonic() - begun
            asking.cancel()
            waits = await asking
            streams = (await other.call("agent/session/state", {"sessionId": session_id}))["phase"]
            await other.call("agent/abort", {"sessionId": session_id})
            assert streams == "running"
            await prompt(other, session_id, "check")
            await settled(other, session_id, 60)
            _check(other, text)
            await other.close()
        print(
            f"{CHANGES} changes in {LINES} lines took {took:.1f} s; another editor's requests while"
            f" the turn streamed: {_told(calm)} before, {_told(waits)} in the storm"
        )


async def _ask_for(client: RawClient, session_id: str, seconds: float) -> list[float]:
    """Ask for the state again and again for so long: how long each took."""
    asking = asyncio.ensure_future(_ask_on(client, session_id))
    await asyncio.sleep(seconds)
    asking.cancel()
    return await asking


async def _ask_on(client: RawClient, session_id: str) -> list[float]:
    waits: list[float] = []
    try:
        while True:
            begun = time.monotonic()
            await client.call("agent/session/state", {"sessionId": session_id}, 120)
            waits.append(time.monotonic() - begun)
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        return sorted(waits)


def _told(waits: list[float]) -> str:
    return f"{waits[len(waits) // 2] * 1000:.1f} ms (slowest {waits[-1] * 1000:.1f})"


def _check(client: RawClient, text: list[str]) -> None:
    """What the tool read is what was typed, and not what the disk has."""
    told = [e for e in events(client, "tool") if e["status"] == "completed"]
    inputs = {e["toolCallId"]: e["input"] for e in events(client, "tool") if "input" in e}
    assert len(told) == 8
    for event in told:
        at = inputs[event["toolCallId"]]["offset"] - 1
        assert "\n".join(text[at : at + SHOWN]) in event["result"]["content"][0]["text"]
