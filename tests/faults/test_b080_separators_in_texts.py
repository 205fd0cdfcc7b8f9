"""Characters that some take for line ends: one entry each, unchanged, through file and wire."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.provider import MODEL, asked, bash, provided, says
from tests.daemon.real import daemon, events, opened, place, prompt, settled
from tests.model.fake_server import Reply, Seen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

TEXT = "a\u2028b\u2029c\u0085d\x0ce\x1cf\rg\nh\U0001f600"
PRINTED = "a\u2028b\u2029c\u0085d"


def answers(seen: Seen) -> Reply:
    last = asked(seen)[-1]
    if last.startswith("tool:"):
        return Reply([says(TEXT)])
    return Reply([bash("cat said.txt")])


async def test_b080_separators(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "said.txt").write_bytes(PRINTED.encode())
    yes = ("--mode", "allowAll")
    async with (
        provided(where, answers) as fp,
        daemon(where, model=MODEL, arguments=yes) as client,
    ):
        session_id = await opened(client, where)
        await prompt(client, session_id, TEXT)
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        assert asked(fp.seen[0]) == [f"user: {TEXT}"]
        messages = [e["entry"]["message"] for e in events(client, "entry") if _said(e["entry"])]
        spoken = "".join(d["text"] for d in client.notes("agent/delta") if d["kind"] == "text")
        assert spoken == TEXT
        assert [m["role"] for m in messages] == ["user", "assistant", "toolResult", "assistant"]
        assert messages[0]["content"] == messages[3]["content"] == [{"type": "text", "text": TEXT}]
        assert messages[2]["content"][0]["text"].strip("\n") == PRINTED
    async with daemon(where, model=MODEL) as client:
        found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        assert found["state"]["warnings"] == []
        assert [e["message"] for e in found["history"]["entries"] if _said(e)] == messages


def _said(entry: dict[str, object]) -> bool:
    return entry["type"] == "message"
