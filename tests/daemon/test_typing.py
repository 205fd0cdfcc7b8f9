"""A person types on in a large file while a turn streams: nothing is lost, nobody waits long."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest
from tests.rpc.client import Message
from tests.rpc.editor import house

LINES = 100_000
CHANGES = 10_000

STREAM: Message = {"text": "word " * 40_000, "chunk": 5, "pause": 0.0005}


def place(text: list[str], chance: random.Random) -> tuple[int, int]:
    line = chance.randrange(len(text))
    return line, chance.randrange(len(text[line]) + 1)


def change(text: list[str], chance: random.Random) -> Message:
    """One edit, made in a list of lines as a person's editor would make it."""
    line, at = place(text, chance)
    new = chance.choice(["x", "word", "\n", "two\nlines", "", "é"])
    end = min(at + chance.choice([0, 0, 1, 3]), len(text[line]))
    made = (text[line][:at] + new + text[line][end:]).split("\n")
    text[line : line + 1] = made
    span = {"start": {"line": line, "character": at}, "end": {"line": line, "character": end}}
    return {"range": span, "text": new}


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_ten_thousand_changes_in_a_hundred_thousand_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(7)
    text = [f"line {number} of a large file" for number in range(LINES)]
    async with house(tmp_path, STREAM) as made:
        uri = made.editor.open(made.folder / "large", "\n".join(text))
        document = await made.known(uri)
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        waits: list[float] = []
        asking = asyncio.ensure_future(_ask_on(made.client.call, session, waits))
        begun = time.monotonic()
        for version in range(2, CHANGES + 2):
            params = {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [change(text, chance)],
            }
            made.client.notify("textDocument/didChange", params)
            if version % 20 == 0:
                await asyncio.sleep(0)
        await made.client.call("agent/session/state", session, 60)
        took = time.monotonic() - begun
        streaming = not any(
            note["event"]["type"] == "settled" for note in made.client.notes("agent/event")
        )
        asking.cancel()
        assert document.version == CHANGES + 1
        assert str(document.text) == "\n".join(text)
        assert streaming
        await made.client.call("agent/abort", session)
    waits.sort()
    with capsys.disabled():
        print(
            f"\n{CHANGES} changes in {LINES} lines: {took:.1f} s while {len(waits)} requests were"
            f" answered, median {waits[len(waits) // 2] * 1000:.1f} ms,"
            f" slowest {waits[-1] * 1000:.1f} ms"
        )


async def _ask_on(call: object, session: Message, waits: list[float]) -> None:
    """Ask for the state again and again, and measure."""
    assert callable(call)
    while True:
        begun = time.monotonic()
        await call("agent/session/state", session, 60)
        waits.append(time.monotonic() - begun)
        await asyncio.sleep(0.02)
