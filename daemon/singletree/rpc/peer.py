"""The other end: who the client is, and how it is told and asked something.

This is what a handler sees of a connection. Never knows a route or the order of messages. Read
next: connection.py (which extends it), asking.py, pipes/outbox.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from singletree.rpc.asking import Asking
from singletree.rpc.buffers.documents import Documents
from singletree.rpc.client import Client
from singletree.rpc.faults import RpcError
from singletree.rpc.openings import Openings
from singletree.rpc.own_settings import EditorSettings
from singletree.rpc.pipes import codec
from singletree.rpc.pipes.outbox import Outbox
from singletree.rpc.protocol.errors import METHOD_NOT_FOUND

log = logging.getLogger(__name__)

T = TypeVar("T")


class Language(Protocol):
    """The standard LSP methods that are not in the table of routes."""

    async def request(self, method: str, params: Any) -> object:
        """The result; RpcError METHOD_NOT_FOUND if nobody handles it."""
        ...

    def notify(self, method: str, params: Any) -> None:
        """Handle a notification, or ignore it."""
        ...


OpenLanguage = Callable[["Peer"], Awaitable[Language]]


class Peer:
    """A client. `speaks_agent`: it declared the agent block, or has called an agent method."""

    def __init__(self, outbox: Outbox, open_language: OpenLanguage | None) -> None:
        self.outbox = outbox
        self.client = Client()
        self.documents = Documents()
        self.settings = EditorSettings()
        self.speaks_agent = False
        self.openings = Openings()
        self._asking = Asking(self._put)
        self._open_language = open_language
        self._language: asyncio.Future[Language] | None = None

    @property
    def gone(self) -> bool:
        """The client has left: nothing is to be kept for it."""
        return self._asking.gone

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._put(message)

    async def call(self, method: str, params: object, result: type[T]) -> T:
        """Ask the client and wait for its answer, as `result` (`object`: any JSON).

        Raises ClientError if it refuses or answers nonsense, ClientGone if it leaves. Cancelling
        the caller cancels the request at the client.
        """
        return await self._asking.call(method, params, result)

    async def language(self) -> Language:
        """The LSP half, waiting for it while it loads."""
        return await asyncio.shield(self._load_language())

    def _load_language(self) -> asyncio.Future[Language]:
        if self._language is None:
            if self._open_language is None:
                raise RpcError(METHOD_NOT_FOUND, "No standard LSP methods are served here")
            self._language = asyncio.ensure_future(self._open_language(self))
            self._language.add_done_callback(_log_failure)
        return self._language

    def _put(self, message: dict[str, object]) -> None:
        self.outbox.put(codec.encode(message))


def _log_failure(loading: asyncio.Future[Language]) -> None:
    if not loading.cancelled() and (error := loading.exception()) is not None:
        log.error("standard LSP methods can't be served", exc_info=error)
