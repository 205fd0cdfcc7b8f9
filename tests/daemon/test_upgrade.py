"""The package is upgraded while a daemon runs: it goes on as the version that it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio.to_thread
import pytest
from tests.daemon.real import HELLO, opened, place, prompt, settled
from tests.rpc.client import Message, python, spawned
from tests.rpc.editor import until

import singletree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

CALLS: tuple[tuple[str, Message], ...] = (
    ("agent/tree/get", {}),
    ("agent/context/get", {}),
    ("agent/edits/list", {}),
    ("agent/session/export", {"format": "html"}),
    ("agent/auth/status", {}),
    ("agent/model/list", {}),
    ("agent/queue/list", {}),
    ("agent/permission/list", {}),
    ("agent/command/list", {}),
    ("agent/settings/get", {"key": "maxSteps"}),
    ("workspace/executeCommand", {"command": "agent.transcript"}),
)


def upgrade(package: Path) -> None:
    """All files are others now, and would not even load."""
    for cache in package.rglob("__pycache__"):
        shutil.rmtree(cache)
    for module in package.rglob("*.py"):
        module.write_text("raise RuntimeError('this is another version')\n")


async def test_what_was_not_used_yet_is_there_after_an_upgrade(tmp_path: Path) -> None:
    where, package = place(tmp_path), tmp_path / "lib" / "singletree"
    await anyio.to_thread.run_sync(shutil.copytree, Path(singletree.__file__).parent, package)
    env = {
        "PI_CODING_AGENT_DIR": str(where.agent_dir),
        "PYTHONPATH": str(package.parent),
        "SINGLETREE_LOG": "info",
    }
    said = tmp_path / "log"
    log = os.open(said, os.O_WRONLY | os.O_CREAT)
    command = python("-m", "singletree", "serve", "--stdio", "--model", "offline/demo")
    async with spawned(*command, env=env, cwd=where.root, stderr=log) as client:
        await client.initialize(HELLO)
        session_id = await opened(client, where)
        loaded = f"all of singletree {singletree.__version__} is loaded"
        await until(lambda: loaded in said.read_text(), 60)
        await anyio.to_thread.run_sync(upgrade, package)
        for method, params in CALLS:
            await client.call(method, {"sessionId": session_id, **params}, 30)
        await prompt(client, session_id, "list files")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        await client.call("agent/session/export", {"sessionId": session_id, "format": "md"}, 30)
    os.close(log)
    assert "another version" not in said.read_text()
