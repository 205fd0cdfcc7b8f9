"""The way to providers, as settings and files have it: through the real daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, asked, provided, says
from tests.daemon.real import Place, daemon, opened, place, prompt, settled
from tests.model.fake_server import Reply, chat, events
from tests.rpc.client import RawClient

PAR = events({"choices": [{"delta": {"content": "par"}}]})
ONCE = {"enabled": False}


def at(root: Path, **settings: object) -> Place:
    where = place(root)
    where.settings(retry=ONCE, **settings)
    return where


async def ended(client: RawClient, session: str) -> Any:
    """How a turn ends that says hi."""
    await prompt(client, session, "hi")
    return (await settled(client, session))["lastTurn"]


async def test_silence_between_tokens_is_endured_as_long_as_settings_say(tmp_path: Path) -> None:
    where = at(tmp_path, httpIdleTimeoutMs=300)
    async with (
        provided(where, [Reply([PAR], hold=True)]),
        daemon(where, model=MODEL) as client,
    ):
        session = await opened(client, where)
        end = await ended(client, session)
    assert end["error"]["message"] == "fp: nothing came for 0.3 seconds"
    assert end["error"]["retryable"]


async def test_so_is_silence_before_the_first_and_settings_that_change_count(
    tmp_path: Path,
) -> None:
    where = at(tmp_path, httpFirstTokenTimeoutMs=200, httpIdleTimeoutMs=0)
    slow = Reply([0.6, says("late")])
    async with provided(where, [slow]), daemon(where, model=MODEL) as client:
        session = await opened(client, where)
        end = await ended(client, session)
        assert end["error"]["message"] == "fp: it did not begin to answer within 0.2 seconds"
        change = {"key": "httpFirstTokenTimeoutMs", "value": 0, "scope": "user"}
        await client.call("agent/settings/set", {"sessionId": session, **change})
        assert (await ended(client, session))["reason"] == "end_turn"


async def test_the_proxy_of_the_settings_is_used(tmp_path: Path) -> None:
    where = at(tmp_path)
    async with provided(where, [says("through")]) as proxy:
        where.settings(retry=ONCE, httpProxy=proxy.url)
        where.models(
            corp={
                "baseUrl": "http://api.corp.example/v1",
                "api": "openai-completions",
                "apiKey": "k",
                "models": [{"id": "m"}],
            }
        )
        async with daemon(where, model="corp/m") as client:
            session = await opened(client, where)
            assert (await ended(client, session))["reason"] == "end_turn"
    assert proxy.seen[0].path == "http://api.corp.example/v1/chat/completions"


@pytest.mark.parametrize("depth", [300, 5000])
async def test_arguments_without_end_are_told_to_the_model(tmp_path: Path, depth: int) -> None:
    where = place(tmp_path)
    deep = '{"path": "a.txt", "more": ' + "[" * depth + "]" * depth + "}"
    named = {"index": 0, "id": "c1", "function": {"name": "read", "arguments": deep}}
    asks = chat({"tool_calls": [named]}, finish="tool_calls")
    async with provided(where, [asks, says("done")]) as server:
        for _ in range(2):  # the second time from the file
            async with daemon(where, model=MODEL) as client:
                session = await opened(client, where)
                assert (await ended(client, session))["reason"] == "end_turn"
    assert "The arguments are nested more than 100 levels deep" in str(asked(server.seen[-1]))
