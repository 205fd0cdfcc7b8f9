"""pi as another program that opens our files: `pi --mode rpc`, one JSON object a line."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.interop.install import Installed

WALK = Path(__file__).with_name("walk.js")
QUIET = {
    "defaultProvider": "local",
    "defaultModel": "fake",
    "enableInstallTelemetry": False,
    "cacheWarming": "off",
    "defaultProjectTrust": "never",
    "compaction": {"enabled": False, "keepRecentTokens": 40},
    "retry": {"baseDelayMs": 10},
}


def settle_in(agent_dir: Path, url: str) -> None:
    """Settings and one model at `url`, which both programs read."""
    agent_dir.mkdir(parents=True, exist_ok=True)
    (agent_dir / "settings.json").write_text(json.dumps(QUIET))
    model = {"id": "fake", "contextWindow": 100_000, "maxTokens": 4096}
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [model],
    }
    (agent_dir / "models.json").write_text(json.dumps({"providers": {"local": provider}}))


class Pi:
    """One running pi."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._count = 0
        self.records: list[dict[str, Any]] = []
        self._changed = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def call(self, kind: str, seconds: float = 20, **fields: Any) -> Any:
        """Send a command: the data of its answer."""
        self._count += 1
        mid = f"c{self._count}"
        assert self._process.stdin is not None
        line = json.dumps({"id": mid, "type": kind, **fields})
        self._process.stdin.write(line.encode() + b"\n")
        answer = await self._until(lambda r: r.get("id") == mid, 0, seconds)
        if not answer["success"]:
            raise AssertionError(f"pi refuses {kind}: {answer['error']}")
        return answer.get("data")

    async def say(self, words: str) -> None:
        """A prompt, until pi has settled."""
        start = len(self.records)
        answer = await self.call("prompt", message=words)
        if answer["disposition"] == "started":
            await self._until(lambda r: r["type"] == "agent_settled", start, 20)

    async def walk(self, to: str, **options: Any) -> None:
        """Go to an entry of the tree."""
        await self.say(f"/walk {json.dumps({'to': to, **options})}")

    async def mark(self, entry: str, label: str | None) -> None:
        """Label an entry."""
        await self.say(f"/mark {json.dumps({'entry': entry, 'label': label})}")

    async def close(self) -> None:
        """End it by the end of its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), 10)
        await self._reading

    async def _until(self, wanted: Any, start: int, seconds: float) -> dict[str, Any]:
        async with asyncio.timeout(seconds):
            at = start
            while True:
                for at in range(at, len(self.records)):  # noqa: B020
                    if wanted(self.records[at]):
                        return self.records[at]
                at = len(self.records)
                self._changed.clear()
                await self._changed.wait()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.records.append(json.loads(line))
            self._changed.set()


@asynccontextmanager
async def running(
    program: Installed, agent_dir: Path, cwd: Path, session: Path | None, *more: str
) -> AsyncIterator[Pi]:
    """pi over a session file, or over a new session."""
    chosen: Sequence[str] = () if session is None else ("--session", str(session))
    process = await asyncio.create_subprocess_exec(
        *program.command,
        *("--mode", "rpc", "-e", str(WALK)),
        *chosen,
        *more,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=cwd,
        env={
            **os.environ,
            "PI_CODING_AGENT_DIR": str(agent_dir),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        },
        limit=1 << 26,
    )
    pi = Pi(process)
    try:
        yield pi
        await pi.close()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
