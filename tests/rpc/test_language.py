"""The LSP half: pygls' registry on our transport, and the private names we rely on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import pytest
import pytest_asyncio
from pygls.protocol import JsonRPCProtocol, LanguageServerProtocol
from tests.rpc import example
from tests.rpc.client import Failed, RawClient, connected
from tests.rpc.declared import undeclared

from singletree.rpc.asking import ClientError
from singletree.rpc.connection import Connection
from singletree.rpc.hello import CAPABILITIES
from singletree.rpc.lsp.language import AgentServer
from singletree.rpc.pipes.converter import converter

Pair = tuple[RawClient, Connection]
PLACE = {"textDocument": {"uri": "file:///x"}, "position": {"line": 2, "character": 1}}


@pytest_asyncio.fixture
async def pair() -> AsyncIterator[Pair]:
    async with connected(example.open_door) as pair:
        await pair[0].initialize()
        yield pair


async def test_a_typed_handler_answers(pair: Pair) -> None:
    result = await pair[0].call("textDocument/hover", PLACE)
    assert result == {"contents": "file:///x:2"}


async def test_wrong_lsp_params_are_told_by_a_pointer(pair: Pair) -> None:
    params = {"textDocument": {"uri": "file:///x"}, "position": {"line": "two", "character": 1}}
    with pytest.raises(Failed) as failed:
        await pair[0].call("textDocument/hover", params)
    assert failed.value.code == -32602
    assert failed.value.data["errors"][0]["pointer"] == "/position/line"
    with pytest.raises(Failed) as failed:
        await pair[0].call("textDocument/hover")
    assert failed.value.code == -32602


async def test_an_lsp_request_is_cancelled(pair: Pair) -> None:
    client, _ = pair
    mid = client.request("textDocument/references", PLACE | {"context": {"includeDeclaration": 1}})
    await client.call("textDocument/hover", PLACE)
    client.notify("$/cancelRequest", {"id": mid})
    assert (await client.answer(mid))["error"]["code"] == -32800


async def test_a_typed_request_to_the_client(pair: Pair) -> None:
    client, _ = pair
    asked: list[object] = []

    def apply(params: object) -> dict[str, object]:
        asked.append(params)
        return {"result": {"applied": True}}

    client.reactions["workspace/applyEdit"] = apply
    assert await client.call("example/edit") == {"applied": True}
    edits = asked[0]["edit"]["documentChanges"][0]["edits"]  # type: ignore[index]  # any JSON
    assert edits[0]["newText"] == "x"


async def test_a_bad_result_of_a_typed_request_ends_the_wait(pair: Pair) -> None:
    client, _ = pair
    client.reactions["workspace/applyEdit"] = lambda params: {"result": 5}
    with pytest.raises(Failed) as failed:
        await client.call("example/edit")
    assert failed.value.code == -32603


async def test_notifications_go_out_and_come_in(pair: Pair) -> None:
    from lsprotocol import types as lsp

    client, connection = pair
    server = await connection.language()
    assert isinstance(server, AgentServer)
    server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message="m"))
    client.notify("$/setTrace", {"value": "verbose"})
    client.notify("$/setTrace", {"value": "loud"})
    client.notify("$/unknown", {"value": 1})
    await client.call("textDocument/hover", PLACE)
    assert client.notes("window/logMessage") == [{"type": 3, "message": "m"}]
    assert server.protocol.trace == "verbose"
    assert len(client.frames) == 3


async def test_a_request_that_is_not_awaited_here(pair: Pair) -> None:
    from lsprotocol import types as lsp

    client, connection = pair
    server = await connection.language()
    assert isinstance(server, AgentServer)
    params = lsp.ConfigurationParams(items=[lsp.ConfigurationItem(section="agent")])
    heard: list[object] = []
    client.reactions["workspace/configuration"] = lambda params: {"result": [{"model": "m"}]}
    asking: Future[Any] = server.workspace_configuration(params, heard.append)
    assert list(await asyncio.wrap_future(asking)) == [{"model": "m"}]
    assert heard == [({"model": "m"},)]
    client.reactions["workspace/configuration"] = lambda params: {
        "error": {"code": -32601, "message": "no"}
    }
    asking = server.workspace_configuration(params)
    with pytest.raises(ClientError) as refused:
        await asyncio.wrap_future(asking)
    assert refused.value.code == -32601


async def test_what_we_declare_is_what_pygls_would(pair: Pair) -> None:
    """pygls is told of `initialize` after it was answered: the answers must agree."""
    _, connection = pair
    server = await connection.language()
    assert isinstance(server, AgentServer)
    theirs = converter().unstructure(server.server_capabilities)
    assert theirs["positionEncoding"] == connection.client.encoding
    ours: Any = CAPABILITIES["textDocumentSync"]
    assert {name: theirs["textDocumentSync"][name] for name in ("openClose", "change")} == {
        name: ours[name] for name in ("openClose", "change")
    }
    example = {"hoverProvider", "definitionProvider", "referencesProvider"}
    assert undeclared(server) == example


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_execute_handler", ["self", "msg_id", "handler", "callback", "args", "kwargs"]),
        ("_get_handler", ["self", "feature_name"]),
        ("_handle_notification", ["self", "method_name", "params"]),
        ("_send_data", ["self", "data"]),
        ("send_request", ["self", "method", "params", "callback", "msg_id"]),
        ("send_request_async", ["self", "method", "params", "msg_id"]),
    ],
)
def test_the_names_of_pygls_that_we_use_or_replace(name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(JsonRPCProtocol, name)).parameters) == parameters


def test_pygls_keeps_its_handlers_where_we_look() -> None:
    source = inspect.getsource(JsonRPCProtocol)
    assert "self._request_futures[msg_id] = future" in source
    assert "self._send_data(" in inspect.getsource(JsonRPCProtocol.notify)
    assert inspect.isgeneratorfunction(LanguageServerProtocol.lsp_initialize)
