"""The same server with pytest-lsp: a client made by others, over real stdio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig
from tests.rpc.client import AgentClient, python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

SERVER = ClientServerConfig(
    server_command=list(python("-m", "tests.rpc.start")), client_factory=AgentClient
)


@pytest_lsp.fixture(config=SERVER)  # type: ignore[untyped-decorator]  # pytest-lsp's own
async def client(lsp_client: AgentClient) -> AsyncIterator[None]:
    await lsp_client.hello({"protocolVersions": [1]})
    yield
    await lsp_client.shutdown_session()


async def test_a_prompt_and_what_it_starts(client: AgentClient) -> None:
    params = {"sessionId": "s", "content": [{"type": "text", "text": "x"}]}
    assert await client.call("agent/prompt", params) == {"turnId": "t1"}
    assert await client.until(lambda m, p: m == "example/started")


async def test_wrong_params(client: AgentClient) -> None:
    with pytest.raises(JsonRpcException) as failed:
        await client.call("agent/prompt", {"sessionId": 1})
    assert failed.value.code == -32602
    assert failed.value.data is not None
    assert failed.value.data["errors"][0]["pointer"] == "/sessionId"


async def test_cancel(client: AgentClient) -> None:
    asking = client.protocol.send_request_async("example/cleanUp", {}, "c")  # type: ignore[no-untyped-call]  # pytest-lsp's own
    waiting = asyncio.ensure_future(asking)
    await asyncio.sleep(0)  # it is sent before the next one, and so begun before that is answered
    await client.call("example/echo")
    client.cancel_request(types.CancelParams(id="c"))
    with pytest.raises(JsonRpcException) as failed:
        await waiting
    assert failed.value.code == -32800
    assert ("example/cleaned", {}) in client.events


async def test_a_question_to_the_client(client: AgentClient) -> None:
    @client.feature("example/permission")  # type: ignore[untyped-decorator]  # pytest-lsp's own
    async def permission(params: Any) -> dict[str, str]:
        return {"outcome": "deny"}

    assert await client.call("example/ask") == {"got": "deny"}


async def test_typed_lsp_both_ways(client: AgentClient) -> None:
    @client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]  # pytest-lsp's own
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        return types.ApplyWorkspaceEditResult(applied=True)

    assert await client.call("example/edit") == {"applied": True}
    place = types.TextDocumentIdentifier(uri="file:///x"), types.Position(2, 1)
    hover = await client.text_document_hover_async(types.HoverParams(*place))
    assert hover is not None
    assert hover.contents == "file:///x:2"
