"""What we ask of a client, until it answers.

A caller that is cancelled tells the client so and forgets the request: a late answer is ignored.
An error of the client, or a result of the wrong shape, is raised where the call was made, and is no
error of ours: nobody is answered with it by mistake. A client that goes away ends all calls. Never
knows a method. Read next: peer.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from singletree.rpc.faults import RpcError, parse_as
from singletree.rpc.incoming import Answer, Id

log = logging.getLogger(__name__)

T = TypeVar("T")


class ClientGone(ConnectionError):
    """The client went away before it answered."""


class ClientError(Exception):
    """The client answered with an error, or with a result of another shape (code 0)."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class Asking:
    """Our open requests to one client. `gone`: it has left."""

    def __init__(self, send: Callable[[dict[str, object]], None]) -> None:
        self._send = send
        self._open: dict[Id, asyncio.Future[Any]] = {}
        self._count = 0
        self.gone = False

    async def call(self, method: str, params: object, result: type[T]) -> T:
        """Ask and wait. `result` is the type of the answer; `object` takes any JSON."""
        if self.gone:
            raise ClientGone("the client is gone")
        self._count += 1
        mid = f"d{self._count}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[mid] = answer
        asked: dict[str, object] = {"jsonrpc": "2.0", "id": mid, "method": method}
        if params is not None:
            asked["params"] = params
        self._send(asked)
        try:
            value = await answer
        except asyncio.CancelledError:
            if self._open.pop(mid, None) is not None:
                cancel = {"id": mid}
                self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": cancel})
            raise
        return _as_result(result, value)

    def answered(self, answer: Answer) -> None:
        """The client has answered one of our requests."""
        waiting = self._open.pop(answer.id, None)
        if waiting is None or waiting.done():
            log.debug("an answer to a request that is not open: %r", answer.id)
        elif (error := answer.error) is not None:
            waiting.set_exception(ClientError(error.code, error.message, error.data))
        else:
            waiting.set_result(answer.result)

    def close(self) -> None:
        """The client is gone; every caller hears it."""
        self.gone = True
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ClientGone("the client is gone"))
        self._open.clear()


def _as_result(kind: type[T], value: Any) -> T:
    if kind is object:
        return value  # type: ignore[no-any-return]  # any JSON was asked for
    try:
        return parse_as(kind, value)
    except RpcError as error:
        raise ClientError(0, f"A result of another shape: {error.message}", error.data) from None
