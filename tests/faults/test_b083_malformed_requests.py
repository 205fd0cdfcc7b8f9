"""Every id gets exactly one answer, whatever else is wrong with the message."""

from __future__ import annotations

import pytest
from tests.rpc.client import frame
from tests.rpc.processes import server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_each_id_gets_exactly_one_answer() -> None:
    async with server() as client:
        early = client.request("agent/prompt", {}, mid="early")
        await client.answer(early)
        await client.initialize()
        client.request("agent/prompt", mid="no params")
        client.request("agent/prompt", None, mid="null")
        client.request("agent/prompt", [], mid="array")
        client.request("agent/prompt", {"sessionId": 1, "content": "x"}, mid="types")
        client.request("agent/prompt", {"sessionId": "s", "content": [{}]}, mid="nested")
        client.request("agent/unknown", {}, mid="unknown")
        client.request("textDocument/hover", {"position": 3}, mid="lsp")
        client.raw(b'Content-Length: 11\r\n\r\n{"jsonrpc":')
        client.send([{"jsonrpc": "2.0", "id": "in batch", "method": "example/echo"}])
        client.raw(b"Content-Length: abc\r\n\r\n" + frame(0)[22:])
        client.request("example/sleep", {"s": 0.1}, mid="twice")
        client.request("example/sleep", {"s": 0.1}, mid="twice")
        client.request("example/echo", {"x": 1}, mid="good")
        await client.answer("twice")
        await client.answer("lsp")
        codes = {f["id"]: f["error"]["code"] for f in client.frames if "error" in f and f["id"]}
        assert codes == {
            "early": -32002,
            "no params": -32602,
            "null": -32602,
            "array": -32602,
            "types": -32602,
            "nested": -32602,
            "unknown": -32601,
            "lsp": -32602,
            "in batch": -32600,
        }
        without = [f["error"]["code"] for f in client.answers(None)]
        assert sorted(without) == [-32700, -32600, -32600]
        assert client.answers("good")[0]["result"] == {"x": 1}
        ids = [f["id"] for f in client.frames if f.get("id") is not None]
        assert len(ids) == len(set(ids))
