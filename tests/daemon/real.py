"""The real daemon as a child process, with a scripted model and folders of its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rpc.client import Message, RawClient, python, spawned

HELLO: Message = {"protocolVersions": [1], "permissions": {}, "clientId": "test"}


@dataclass
class Place:
    """Where a daemon works: its workspace, its agent folder, its script."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "work"

    @property
    def agent_dir(self) -> Path:
        return self.root / "agent"

    def settings(self, **keys: object) -> None:
        """Write the user's settings.json."""
        self._write("settings.json", keys)

    def models(self, **providers: object) -> None:
        """Write models.json."""
        self._write("models.json", {"providers": providers})

    def _write(self, name: str, value: object) -> None:
        self.agent_dir.mkdir(exist_ok=True)
        (self.agent_dir / name).write_text(json.dumps(value), "utf-8")

    def script(self, *turns: object) -> Path:
        """Write the turns that the model will play, one JSON object each."""
        path = self.root / "script.jsonl"
        path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
        return path


def place(root: Path) -> Place:
    made = Place(root)
    made.folder.mkdir(parents=True, exist_ok=True)
    return made


def allow(params: Any) -> Message:
    """The answer of somebody who allows it once."""
    option = next(o for o in params["options"] if o["kind"] == "allow")
    return {"result": {"outcome": "selected", "optionId": option["id"]}}


def deny(params: Any) -> Message:
    return {"result": {"outcome": "cancelled"}}


@asynccontextmanager
async def daemon(
    where: Place,
    *turns: object,
    arguments: Sequence[str] = (),
    agent: object = ...,
    model: str | None = None,
    hello: bool = True,
    env: Mapping[str, str] | None = None,
    folders: object = None,
    **initialize: Any,
) -> AsyncIterator[RawClient]:
    """A client that has said hello. `turns`: what the scripted model plays.

    `model`: another one; "" leaves the choice to the daemon.
    """
    ref = f"scripted:{where.script(*turns)}" if model is None else model
    named = ("--model", ref) if ref else ()
    command = python("-m", "singletree", "serve", "--stdio", *named, *arguments)
    given = {"PI_CODING_AGENT_DIR": str(where.agent_dir), **(env or {})}
    async with spawned(*command, env=given, cwd=where.root) as client:
        client.reactions["agent/permission/request"] = allow
        if hello:
            said = HELLO if agent is ... else agent
            await client.initialize(said, workspaceFolders=folders, **initialize)
        yield client


async def opened(client: RawClient, where: Place, **params: Any) -> str:
    """Open the session of the folder: its id."""
    given = {"cwd": str(where.folder), **params}
    return str((await client.call("agent/session/open", given, 60))["sessionId"])


def text(words: str) -> list[Message]:
    return [{"type": "text", "text": words}]


async def prompt(client: RawClient, session_id: str | None, words: str, **params: Any) -> Any:
    return await client.call(
        "agent/prompt", {"sessionId": session_id, "content": text(words), **params}
    )


async def settled(client: RawClient, session_id: str, seconds: float = 15) -> Any:
    """Wait until nothing automatic remains: how the last turn ended."""
    return await client.call(
        "agent/session/wait", {"sessionId": session_id, "for": "settled"}, seconds
    )


def events(client: RawClient, *types: str) -> list[Message]:
    """The events told so far, of these types."""
    told = [note["event"] for note in client.notes("agent/event")]
    return [event for event in told if not types or event["type"] in types]


def tells(kind: str) -> Callable[[Message], bool]:
    """Whether a frame is an event of this type."""
    return lambda f: f.get("method") == "agent/event" and f["params"]["event"]["type"] == kind


async def until(client: RawClient, kind: str, status: str, count: int = 1) -> None:
    """Wait for so many events of a type that have this status."""

    def enough(frame: Message) -> bool:
        event = frame["params"]["event"] if frame.get("method") == "agent/event" else {}
        last = event.get("type") == kind and event.get("status") == status
        return last and len([e for e in events(client, kind) if e["status"] == status]) >= count

    await client.until(enough, 30, f"{count} times {kind} {status}")
