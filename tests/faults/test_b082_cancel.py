"""A cancelled request that still waits is answered and never run; an unknown id is no matter."""

from __future__ import annotations

import time

import pytest
from tests.rpc.client import Message, frame
from tests.rpc.processes import greeted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_thirty_requests_and_at_once_thirty_cancels() -> None:
    async with greeted() as client:
        data = b""
        for mid in range(100, 130):
            data += frame({"jsonrpc": "2.0", "id": mid, "method": "example/sleep"})
        for mid in [*range(100, 130), "unknown", 7]:
            params: Message = {"id": mid}
            data += frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params})
        client.raw(data)
        for mid in range(100, 130):
            assert (await client.answer(mid))["error"]["code"] == -32800
        assert client.notes("example/ran") == []
        assert len(client.frames) == 31


async def test_requests_are_answered_while_others_wait() -> None:
    async with greeted() as client:
        for _ in range(30):
            client.request("example/sleep")
        await client.until(lambda f: f.get("method") == "example/ran")
        begun = time.monotonic()
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}
        assert time.monotonic() - begun < 0.2
