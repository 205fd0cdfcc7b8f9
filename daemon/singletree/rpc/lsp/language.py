"""The standard LSP half of a connection: pygls' registry and typed calls on our own transport.

What the table of routes does not have (code actions, progress, virtual documents) is registered
here with `@server.feature` and typed by lsprotocol. Params are structured once, faults are told
with a JSON pointer, and everything sent leaves through the peer. pygls neither reads nor
writes, and its documents are not used (../buffers/documents.py has them). Never imported before the
first answers are out: lazylsp.py does that, in a thread. Overrides private names of pygls 2.1,
which a contract test guards.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, LanguageServerProtocol

from singletree import __version__
from singletree.rpc.asking import ClientError
from singletree.rpc.faults import RpcError, invalid_params
from singletree.rpc.peer import Peer
from singletree.rpc.pipes.converter import converter
from singletree.rpc.protocol.errors import METHOD_NOT_FOUND

log = logging.getLogger(__name__)


class AgentProtocol(LanguageServerProtocol):
    """pygls' dispatcher without its transport: structured params in, plain values out."""

    peer: Peer
    _server: AgentServer

    def start(self, params: Any) -> None:
        """Tell pygls of the `initialize` that was answered before it was loaded."""
        try:
            value = self._read_params(lsp.INITIALIZE, params)
        except RpcError as error:
            log.warning("initialize: %s", error.message)
            value = lsp.InitializeParams(capabilities=lsp.ClientCapabilities())
        self._execute_handler("initialize", self.lsp_initialize, _raise, (value,))

    async def request(self, method: str, params: Any) -> object:
        """Run the handler of an LSP request; cancelling this cancels the handler."""
        try:
            handler = self._get_handler(method)
        except JsonRpcMethodNotFound:
            raise RpcError(METHOD_NOT_FOUND, f"Unknown method: {method}") from None
        value = self._read_params(method, params)
        mid = uuid.uuid4().hex
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._execute_handler(mid, handler, partial(_pass_on, done), (value,))
        try:
            return self._converter.unstructure(await done)
        except JsonRpcException as error:
            raise RpcError(error.code, error.message, error.data) from None
        finally:
            if (handling := self._request_futures.pop(mid, None)) is not None:
                handling.cancel()

    def note(self, method: str, params: Any) -> None:
        """Handle an LSP notification; one that nobody knows is ignored."""
        self._handle_notification(method, self._read_params(method, params))

    def _read_params(self, method: str, params: Any) -> Any:
        if (kind := self.get_message_type(method)) is None:
            return params
        message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        if params is None:
            del message["params"]
        try:
            return getattr(self._converter.structure(message, kind), "params", None)
        except Exception as error:  # cattrs raises groups, and hooks raise what they like
            raise invalid_params(_faults(error)) from None

    def send_request_async(
        self, method: str, params: Any | None = None, msg_id: Any | None = None
    ) -> asyncio.Future[Any]:
        """Ask the client; the awaited value is lsprotocol's result."""
        return asyncio.ensure_future(self._ask(method, params))

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: Any | None = None,
    ) -> Future[Any]:
        """Ask the client without waiting here."""
        answer: Future[Any] = Future()
        if callback is not None:
            answer.add_done_callback(lambda future: callback(future.result()))
        self.send_request_async(method, params).add_done_callback(partial(_copy, answer))
        return answer

    async def _ask(self, method: str, params: Any) -> Any:
        plain = self._converter.unstructure(params)
        result = await self.peer.call(method, plain, object)
        if (kind := self.get_result_type(method)) is None:
            return result
        try:
            answer = self._converter.structure({"jsonrpc": "2.0", "id": 0, "result": result}, kind)
        except Exception as error:
            faults = _faults(error)
            raise ClientError(0, f"A result of another shape: {faults[0]['message']}") from None
        return answer.result

    def _send_data(self, data: Any) -> None:
        """The one exit of pygls; only notifications come here."""
        if isinstance(data, JsonRPCNotification):
            self.peer.notify(data.method, data.params)
        else:
            plain = self._converter.unstructure(data)
            self.peer.notify(plain["method"], plain.get("params"))


class AgentServer(LanguageServer):
    """The LSP face of one connection. Register with `feature`, ask with the typed calls."""

    protocol: AgentProtocol

    def __init__(self, peer: Peer) -> None:
        super().__init__(
            "singletree", __version__, protocol_cls=AgentProtocol, converter_factory=converter
        )
        self.peer = peer
        self.protocol.peer = peer

    async def request(self, method: str, params: Any) -> object:
        """Answer a standard LSP request."""
        return await self.protocol.request(method, params)

    def notify(self, method: str, params: Any) -> None:
        """Take a standard LSP notification."""
        self.protocol.note(method, params)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Errors go to the log, never into the user's face."""
        log.error("%s: %s", getattr(source, "__name__", source), error)


def warm() -> None:
    """Build what the first connection would have to: slow, so in a thread."""
    server = LanguageServer("warm", "0", converter_factory=converter)
    params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
    message = {"jsonrpc": "2.0", "id": 0, "method": lsp.INITIALIZE, "params": params}
    request = converter().structure(message, lsp.InitializeRequest)
    for _ in server.protocol.lsp_initialize(request.params):
        pass


def _raise(future: Future[Any]) -> None:
    future.result()


def _pass_on(done: asyncio.Future[Any], future: Future[Any]) -> None:
    if done.done():
        return
    if future.cancelled():
        done.cancel()
    elif (error := future.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(future.result())


def _copy(answer: Future[Any], asked: asyncio.Future[Any]) -> None:
    if asked.cancelled():
        answer.cancel()
    elif (error := asked.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(asked.result())


def _faults(error: Exception) -> list[dict[str, str]]:
    """cattrs tells `what @ $.params.position.line`; its paths become pointers into the params."""
    found = []
    for line in transform_error(error)[:20]:
        what, _, place = line.partition(" @ $.params")
        pointer = re.sub(r"\.([^.\[]+)|\[([^\]]*)\]", r"/\1\2", place).replace("'", "")
        found.append({"pointer": pointer, "message": what.partition(" @ ")[0]})
    return found
