"""Handlers at work, and the one answer each request gets.

A plain handler is answered at once, an async one when its task ends: with its result, with -32800
if it was cancelled and did not turn that into a result, with the error it raised, or with -32603
and a reference into the log for anything unforeseen; never with a traceback. Never knows the order
of messages or what a method means. Read next: connection.py.

A request is cancelled by a scope and not by its task, so that what a handler shields (a text that
must be on the disk, or not be there at all) is done to its end.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import anyio

from singletree.rpc.faults import RpcError
from singletree.rpc.incoming import Id
from singletree.rpc.limits import MAX_OUTBOUND
from singletree.rpc.pipes import codec
from singletree.rpc.protocol.errors import CANCELLED, INTERNAL_ERROR, SERVER_CANCELLED
from singletree.rpc.routes import Call, ErrorMapper

log = logging.getLogger(__name__)

WAS_CANCELLED = RpcError(CANCELLED, "The request was cancelled")
WITHDRAWN = RpcError(SERVER_CANCELLED, "The daemon shuts down")
INTERNAL = "The daemon failed here; its log has the details under [{ref}]."


@dataclass(slots=True, eq=False)
class _Job:
    """A handler at work, and what ends it."""

    work: Awaitable[object]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def run(self) -> object:
        """To its end. Nobody ends the process from inside a handler."""
        try:
            with self.scope:
                if not self.scope.cancel_called:
                    return await self.work
        except SystemExit as error:
            raise RuntimeError("a handler tried to end the process") from error
        raise asyncio.CancelledError


Orphans = set[asyncio.Task[object]] | None
"""Where work goes on whose client has left; None: it ends with its client."""


class Work:
    """The handlers of one client that are at work."""

    def __init__(
        self, send: Callable[[bytes], None], to_error: ErrorMapper, orphans: Orphans = None
    ) -> None:
        self._send = send
        self._to_error = to_error
        self._orphans = orphans
        self._running: dict[Id, _Job] = {}
        self._tasks: dict[_Job, asyncio.Task[object]] = {}
        self._withdrawn: set[Id] = set()

    def __contains__(self, mid: Id) -> bool:
        return mid in self._running

    def __len__(self) -> int:
        return len(self._running)

    def handle(self, call: Call, handler: Callable[[], object]) -> bool:
        """Run a handler; whether it goes on after this."""
        try:
            result = handler()
        except (Exception, SystemExit) as error:
            self._failed(call, error)
            return False
        if not inspect.isawaitable(result):
            self._done(call, result)
            return False
        job = _Job(result)
        if call.id is not None:
            self._running[call.id] = job
        task = self._tasks[job] = asyncio.ensure_future(job.run())
        task.add_done_callback(partial(self._ended, call, job))
        return True

    def refuse(self, mid: Id | None, error: RpcError) -> None:
        """Answer with an error."""
        body = {"code": error.code, "message": error.message}
        if error.data is not None:
            body["data"] = error.data
        self._send(_answer(mid, b"error", codec.encode(body)))

    def cancel(self, mid: Id) -> None:
        """End a request; it is answered once its clean-up is done."""
        if (job := self._running.get(mid)) is not None:
            job.scope.cancel()

    async def finish(self, seconds: float) -> None:
        """Give what is at work a moment to end by itself."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)

    async def withdraw(self, asking: Call, seconds: float) -> None:
        """End all requests but the one that asks for it; they are answered with -32802.

        Where work may go on without its client, it does.
        """
        others = {mid: job for mid, job in self._running.items() if mid != asking.id}
        if self._orphans is not None:
            for mid, job in others.items():
                self.refuse(mid, WITHDRAWN)
                self._leave(mid, job)
            return
        self._withdrawn.update(others)
        for job in others.values():
            job.scope.cancel()
        if others:
            await asyncio.wait([self._tasks[job] for job in others.values()], timeout=seconds)

    def close(self) -> None:
        """The client is gone: end everything, or let it go on where that may be."""
        if self._orphans is not None:
            for mid, job in list(self._running.items()):
                self._leave(mid, job)
        for job in self._tasks:
            job.scope.cancel()

    def _leave(self, mid: Id, job: _Job) -> None:
        """What the client asked for is done to its end, and nobody hears how it went."""
        assert self._orphans is not None
        del self._running[mid]
        self._orphans.add(self._tasks.pop(job))

    def _ended(self, call: Call, job: _Job, task: asyncio.Task[object]) -> None:
        if self._tasks.pop(job, None) is None:
            assert self._orphans is not None
            self._orphans.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                log.info("%s, asked for by a client that has left: %s", call.method, error)
            return
        if inspect.iscoroutine(job.work):
            job.work.close()  # cancelled before it began: it never will
        if call.id is not None and self._running.get(call.id) is job:
            del self._running[call.id]
        if task.cancelled():
            self._failed(call, WITHDRAWN if call.id in self._withdrawn else WAS_CANCELLED)
        elif (error := task.exception()) is not None:
            self._failed(call, error)
        else:
            self._done(call, task.result())

    def _done(self, call: Call, result: object) -> None:
        if call.id is not None:
            try:
                body = codec.encode(result)
            except (TypeError, ValueError) as error:
                self._failed(call, error)
                return
            if len(body) > MAX_OUTBOUND:
                log.warning("%s was answered with %d bytes; it should page", call.method, len(body))
            self._send(_answer(call.id, b"result", body))
        call.replied()

    def _failed(self, call: Call, error: BaseException) -> None:
        answer = self._as_rpc_error(call, error)
        if call.id is not None:
            self.refuse(call.id, answer)
        elif answer.code != CANCELLED:
            log.warning("%s: %s", call.method, answer.message)
        call.replied()

    def _as_rpc_error(self, call: Call, error: BaseException) -> RpcError:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, RpcError):
            return error
        if (mapped := self._to_error(error)) is not None:
            return RpcError(*mapped)
        ref = secrets.token_hex(4)
        log.error("%s failed [%s]", call.method, ref, exc_info=error)
        data = {"code": "internal", "retryable": False, "ref": ref}
        return RpcError(INTERNAL_ERROR, INTERNAL.format(ref=ref), data)


def _answer(mid: Id | None, name: bytes, body: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (codec.encode(mid), name, body)
