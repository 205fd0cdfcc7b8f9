"""One client: its messages in order, its open requests, what we ask of it.

Every request gets exactly one answer, whatever happens. Messages are looked at twice: cancels the
moment they arrive, so that a request that still waits its turn is never run; everything else in
order, one after the other, each handler reaching its first wait before the next message is taken.
Handlers stand in a table (routes.py). Standard LSP requests that are not in it are pygls' business
(lsp/language.py), loaded when the first of them comes, or soon for a plain LSP host; notifications
that matter from the start stand in the table. Never blocks, never knows a session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from singletree.rpc.client import Client, read_client
from singletree.rpc.faults import RpcError, invalid_params, request_failed
from singletree.rpc.hello import answer, part
from singletree.rpc.incoming import Answer, Id, Incoming, Notification, Refusal, Request, read
from singletree.rpc.limits import MAX_OPEN
from singletree.rpc.peer import OpenLanguage, Peer
from singletree.rpc.pipes.frames import Frame
from singletree.rpc.pipes.outbox import Outbox
from singletree.rpc.protocol.errors import INVALID_REQUEST, METHOD_NOT_FOUND, NOT_INITIALIZED
from singletree.rpc.routes import Call, ErrorMapper, Route, Routes
from singletree.rpc.work import WAS_CANCELLED, Orphans, Work

log = logging.getLogger(__name__)

SHUTDOWN_SECONDS: Final = 4.5
LAST_SECONDS: Final = 0.5
LANGUAGE_SECONDS: Final = 1.0
SLICE_SECONDS: Final = 0.001
"""How long one client's messages are handled in a row, before others have their turn."""


@dataclass(slots=True)
class Door:
    """What all connections of a process share: the table, and what happens at which moment.

    `agent` is declared in the answer to `initialize`. `greeted` is called when a client has said
    who it is, `initialized` when it is ready to be asked. `shutdown` ends and saves what belongs to
    this client, within the time it is given. `closed` is called once when a client has gone.
    `busy` says whether anything runs that needs no client. `orphans` holds what goes on though
    the client that asked for it has left; None: it ends with its client.
    """

    routes: Routes = field(default_factory=dict)
    to_error: ErrorMapper = lambda error: None
    agent: Mapping[str, object] = field(default_factory=dict)
    language: OpenLanguage | None = None
    greeted: Callable[[Peer], object] | None = None
    initialized: Callable[[Peer], object] | None = None
    shutdown: Callable[[Peer], Awaitable[object]] | None = None
    closed: Callable[[Peer], object] | None = None
    busy: Callable[[], bool] = lambda: False
    orphans: Orphans = None


class Connection(Peer):
    """The conversation with one client: `run` handles what `take` brings, until the client leaves.

    `greeted` is called when it has introduced itself; `left(code)` when it says goodbye: 0 after
    `shutdown`, else 1.
    """

    def __init__(
        self,
        door: Door,
        outbox: Outbox,
        left: Callable[[int], object],
        greeted: Callable[[Client], object] = lambda client: None,
    ) -> None:
        super().__init__(outbox, door.language)
        self.door = door
        self._left = left
        self._on_greeted = greeted
        self._work = Work(outbox.put, door.to_error, door.orphans)
        self._batches: asyncio.Queue[tuple[list[Incoming], Callable[[], object]]] = asyncio.Queue()
        self._waiting: dict[Id, Request] = {}
        self._open = True
        self._greeted = False
        self._shutting = False
        self._own: dict[str, Route[Any]] = {
            "initialize": Route(None, lambda params, call: self.greet(params)),
            "initialized": Route(None, lambda params, call: self._initialized()),
            "shutdown": Route(None, lambda params, call: self._shut_down(call)),
        }

    def greet(self, params: Any) -> dict[str, object]:
        """Take the params of `initialize`, once; the result to answer."""
        if not isinstance(params, dict):
            raise invalid_params([{"pointer": "", "message": "must be an object"}])
        self.client = read_client(params)
        self.speaks_agent = self.client.speaks_agent
        self.documents.encoding = self.client.encoding
        self.settings.general = part(self.client.agent, "settings")
        self._greeted = True
        self._on_greeted(self.client)
        if self.door.greeted is not None:
            self.door.greeted(self)
        return answer(params, self.door.agent)

    def take(self, frames: list[Frame], handled: Callable[[], object] = lambda: None) -> None:
        """Frames have come; `handled` is called when the next ones may."""
        batch = [message for frame in frames for message in read(frame)]
        for at, message in enumerate(batch):
            match message:
                case Request(id=mid) if mid in self._waiting or mid in self._work:
                    text = f"The id {mid!r} is in use by a request that is not answered yet"
                    batch[at] = Refusal(None, RpcError(INVALID_REQUEST, text))
                case Request(id=mid):
                    self._waiting[mid] = message
                case Notification("$/cancelRequest", {"id": str() | int() as mid}):
                    self._cancel(mid)
        self._batches.put_nowait((batch, handled))

    def end(self) -> None:
        """No more frames will come: `run` returns when it has handled those that came."""
        self._batches.put_nowait(([], self._stop))

    async def run(self) -> None:
        """Handle messages until the client has gone. Then everything of this client ends."""
        try:
            await self._handle_batches()
            self._asking.close()
            await self._work.finish(LAST_SECONDS)
        finally:
            self._stop()
            self._asking.close()
            self._work.close()
            await self._work.finish(LAST_SECONDS)
            if self._language is not None:
                self._language.cancel()
            if self.door.closed is not None:
                self.door.closed(self)

    async def _handle_batches(self) -> None:
        clock = asyncio.get_running_loop().time
        since = clock()
        while self._open:
            batch, handled = await self._batches.get()
            for message in batch:
                if self._handle(message) or clock() - since > SLICE_SECONDS:
                    await asyncio.sleep(0)  # the handler reaches its first wait; others go on
                    since = clock()
            handled()

    def _handle(self, message: Incoming) -> bool:
        """Handle one message; whether a handler goes on by itself now."""
        match message:
            case Request():
                if message.cancelled:
                    return False
                del self._waiting[message.id]
                call = Call(self, message.method, message.id)
                return self._work.handle(call, lambda: self._dispatch(call, message.params))
            case Notification():
                return self._handle_notification(message)
            case Answer():
                self._asking.answered(message)
            case Refusal():
                self._work.refuse(message.id, message.error)
            case _:
                assert_never(message)
        return False

    def _dispatch(self, call: Call, params: Any) -> object:
        if (route := self._admit(call.method)) is None:
            return self._ask_language(call.method, params)
        return self._enter(route, call, params)

    def _enter(self, route: Route[Any], call: Call, params: Any) -> object:
        value = route.parse(params)
        if route.on_receive is not None:
            call.captured = route.on_receive(value, self)
        return route.handler(value, call)

    def _admit(self, method: str) -> Route[Any] | None:
        """The route of a request that may be made now; None: pygls may know the method."""
        if self._shutting:
            raise RpcError(INVALID_REQUEST, "The daemon is shutting down")
        if method == "initialize" and self._greeted:
            raise RpcError(INVALID_REQUEST, "initialize was sent before")
        if method != "initialize" and not self._greeted:
            raise RpcError(NOT_INITIALIZED, "Send initialize first")
        if (own := self._own.get(method)) is not None:
            return own
        if len(self._work) >= MAX_OPEN:
            text = f"{MAX_OPEN} requests wait for an answer; no more at a time"
            raise request_failed("too_many_requests", text, retryable=True)
        if method.startswith("agent/"):
            self._admit_agent()
        route = self.door.routes.get(method)
        if route is None and (self.door.language is None or method.startswith(("agent/", "$/"))):
            raise RpcError(METHOD_NOT_FOUND, f"Unknown method: {method}")
        return route

    def _admit_agent(self) -> None:
        if self.client.agent_version is None:
            text = "No common version of the agent protocol; see experimental.agent.supported"
            raise request_failed("unsupported_protocol_version", text)
        self.speaks_agent = True

    async def _ask_language(self, method: str, params: Any) -> object:
        language = await self.language()
        return await language.request(method, params)

    def _handle_notification(self, note: Notification) -> bool:
        if note.method == "exit":
            self._left(0 if self._shutting else 1)
            return False
        if not self._greeted or self._shutting or note.method == "$/cancelRequest":
            return False
        call = Call(self, note.method, None)
        route = self._own.get(note.method) or self.door.routes.get(note.method)
        if route is not None:
            return self._work.handle(call, lambda: self._enter(route, call, note.params))
        if self._language is None:
            log.debug("nobody takes %s", note.method)
            return False
        return self._work.handle(call, lambda: self._tell_language(note))

    async def _tell_language(self, note: Notification) -> None:
        (await self.language()).notify(note.method, note.params)

    def _initialized(self) -> None:
        if not self.speaks_agent and self.door.language is not None:
            asyncio.get_running_loop().call_later(LANGUAGE_SECONDS, self._preload)
        if self.door.initialized is not None:
            self.door.initialized(self)

    def _preload(self) -> None:
        """A plain LSP host will want code actions; others need not pay for pygls."""
        if self._open:
            self._load_language()

    def _shut_down(self, call: Call) -> Awaitable[None]:
        self._shutting = True
        return self._end_gently(call)

    async def _end_gently(self, call: Call) -> None:
        """Save and end what is this client's, then withdraw what still waits for an answer."""
        if self.door.shutdown is not None:
            try:
                await asyncio.wait_for(self.door.shutdown(self), SHUTDOWN_SECONDS)
            except Exception:
                log.exception("shutdown was not clean")
        await self._work.withdraw(call, LAST_SECONDS)

    def _stop(self) -> None:
        self._open = False

    def _cancel(self, mid: Id) -> None:
        if (request := self._waiting.pop(mid, None)) is None:
            self._work.cancel(mid)
            return
        request.cancelled = True
        self._work.refuse(mid, WAS_CANCELLED)
