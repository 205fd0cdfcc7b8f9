"""A provider on this machine for the real daemon: what it is asked can be looked at.

It is as strict as the strictest: an unanswered call, a result without a call or an empty text is
refused with a 400, which no turn in these tests survives.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tests.daemon.real import Place
from tests.model.fake_server import FakeServer, Reply, Seen, chat, serving

MODEL = "fp/m"
SUMMARY_MARK = "<conversation>"
SUMMARY = "\n".join(
    f"## {name}\n- x"
    for name in (
        "Goal",
        "Constraints & Preferences",
        "Progress",
        "Key Decisions",
        "Next Steps",
        "Critical Context",
    )
)
Replies = Sequence[Reply | bytes] | Callable[[Seen], Reply]


def says(text: str) -> bytes:
    """An answer."""
    return chat({"content": text})


def calls(*named: tuple[str, str, object]) -> bytes:
    """An answer that calls tools: (id, name, arguments) each."""
    made = [
        {"index": at, "id": mid, "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (mid, name, arguments) in enumerate(named)
    ]
    return chat({"tool_calls": made}, finish="tool_calls")


def bash(*commands: str) -> bytes:
    """An answer that runs commands, at the same time."""
    return calls(*((f"c{n}", "bash", {"command": c}) for n, c in enumerate(commands, 1)))


@asynccontextmanager
async def provided(where: Place, replies: Replies, **model: object) -> AsyncIterator[FakeServer]:
    """The provider `fp` with its model `m`, in models.json."""
    async with serving(replies) as server:
        where.models(
            fp={
                "baseUrl": f"{server.url}/v1",
                "api": "openai-completions",
                "apiKey": "k",
                "models": [{"id": "m", **model}],
            }
        )
        yield server


def asked(seen: Seen) -> list[str]:
    """The messages of a request, a line each, without the system prompt."""
    return [_line(m) for m in seen.body["messages"] if m["role"] not in ("system", "developer")]


def is_summary(seen: Seen) -> bool:
    """Whether a summary is asked for."""
    return SUMMARY_MARK in json.dumps(seen.body["messages"][-1])


def _line(message: Any) -> str:
    named = [call["id"] for call in message.get("tool_calls") or []]
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = " ".join(block.get("text", "[picture]") for block in content)
    return " ".join([f"{message['role']}:", *([content] if content else []), *named])
