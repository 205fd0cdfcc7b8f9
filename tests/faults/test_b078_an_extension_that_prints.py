"""Whatever an extension writes to stdout, or closes: the client sees whole frames alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.real import daemon, opened, place, prompt, settled

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

STRAY = """
import logging, os, subprocess, sys, warnings
from singletree.extensions.api import AgentEnd, Input, SessionStart

print("at import")
os.write(1, b"stray-bytes")

def setup(api):
    def noisy(given):
        print("stray-print", flush=True)
        os.write(1, b"stray-bytes")
        subprocess.run(["echo", "stray-child"])
        warnings.warn("stray-warning")
        logging.StreamHandler(sys.stdout).handle(
            logging.makeLogRecord({"msg": "stray-log", "levelno": 40})
        )
        if isinstance(given, Input) and given.text == "close":
            os.close(1)
    for kind in (SessionStart, Input, AgentEnd):
        api.on(kind, noisy)
"""


async def test_b078_an_extension_that_prints(tmp_path: Path) -> None:
    where = place(tmp_path)
    folder = where.agent_dir / "extensions"
    folder.mkdir(parents=True)
    (folder / "stray.py").write_text(STRAY, "utf-8")
    async with daemon(where, {"text": "one"}, {"text": "two"}, {"text": "three"}) as client:
        session_id = await opened(client, where)
        for words in ("hi", "close", "again"):
            await prompt(client, session_id, words)
            assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        assert client.broken is None
    (file,) = where.agent_dir.glob("sessions/*/*.jsonl")
    text = file.read_text("utf-8")
    assert "stray" not in text
    assert [words in text for words in ("one", "two", "three")] == [True] * 3
