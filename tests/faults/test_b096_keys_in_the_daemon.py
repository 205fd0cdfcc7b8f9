"""B096: a command that looks for the daemon's keys, in its environment and around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, bash, provided, says
from tests.daemon.real import daemon, deny, opened, place, prompt, settled
from tests.rpc.client import Message

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

KEY, PASSWORD = "sk-test-123", "proxy-password"
LOOKS = (
    "env",
    "for p in $$ $PPID; do cat /proc/$p/environ | tr '\\0' '\\n'; done",
    "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a X_API_KEY",
    "cat ../agent/auth.json",
)


async def test_b096_no_key_comes_out(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / ".env").write_text("Z=9\n")
    environment = {
        "X_API_KEY": KEY,
        "HTTPS_PROXY": f"http://me:{PASSWORD}@127.0.0.1:9",
        "SINGLETREE_LOG": "debug",
        "NO_PROXY": "127.0.0.1",
    }
    async with (
        provided(where, [bash(*LOOKS[:3]), bash('echo "[$Z]"'), says("done")]),
        daemon(where, model=MODEL, env=environment, arguments=("--mode", "allowAll")) as client,
    ):
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        heard = repr(client.frames)
        assert "HOME=" in heard
        assert "[]" in heard
        assert KEY not in heard
        assert PASSWORD not in heard
    for path in where.agent_dir.rglob("*"):
        assert path.name == "models.json" or not path.stat().st_mode & 0o077, path
        if path.is_file():
            kept = path.read_bytes()
            assert KEY.encode() not in kept
            assert PASSWORD.encode() not in kept


async def test_b096_the_keys_file_is_out_of_reach(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with (
        provided(where, [bash(LOOKS[3]), says("done")]),
        daemon(where, model=MODEL) as client,
    ):
        keys = where.agent_dir / "auth.json"
        keys.write_text(json.dumps({"x": {"type": "api_key", "key": KEY}}))
        keys.chmod(0o600)
        asked: list[Any] = []

        def no(params: Any) -> Message:
            asked.append(params)
            return deny(params)

        client.reactions["agent/permission/request"] = no
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        assert len(asked) == 1
        assert "is private" in repr(asked)
        assert KEY not in repr(client.frames)
