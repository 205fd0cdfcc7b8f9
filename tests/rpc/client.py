"""Test clients: one that speaks bytes and forgives nothing, one that is pytest-lsp's.

`RawClient` keeps every frame in order and fails on a single byte that is no frame. It talks to a
child process (`spawned`) or to a door in this process (`connected`). `AgentClient` is a pytest-lsp
client for our own methods: plain JSON in and out, every notification kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cattrs import Converter
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage
from pytest_lsp import LanguageClient
from pytest_lsp.protocol import LanguageClientProtocol

from singletree.rpc.connection import Connection
from singletree.rpc.doors.serve import Line, OpenDoor, converse
from singletree.rpc.pipes.outbox import Limits, Outbox

Message = dict[str, Any]
Reaction = Callable[[Any], Any]


class Failed(Exception):
    """The daemon answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.data: Any = error.get("data")


class RawClient:
    """A client that writes bytes and reads frames."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.frames: list[Message] = []
        self.ended = False
        self.broken: bytes | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.reactions: dict[str, Reaction] = {}
        self._reader = reader
        self._writer = writer
        self._changed = asyncio.Event()
        self._count = 0
        self._reading = asyncio.ensure_future(self._read())

    # sending

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._writer.write(data)

    def send(self, message: object) -> None:
        """Write one frame."""
        self.raw(frame(message))

    def request(self, method: str, params: object = ..., mid: str | int | None = None) -> str | int:
        """Send a request: its id. Without params the key is left out."""
        self._count += 1
        mid = self._count if mid is None else mid
        message: Message = {"jsonrpc": "2.0", "id": mid, "method": method}
        if params is not ...:
            message["params"] = params
        self.send(message)
        return mid

    def notify(self, method: str, params: object = ...) -> None:
        """Send a notification."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not ...:
            message["params"] = params
        self.send(message)

    async def call(self, method: str, params: object = ..., seconds: float = 10) -> Any:
        """Send a request and wait: its result. An error is raised as Failed."""
        answer = await self.answer(self.request(method, params), seconds)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    async def initialize(self, agent: object = None, **params: Any) -> Any:
        """Say hello: the result of `initialize`."""
        options = {} if agent is None else {"initializationOptions": {"agent": agent}}
        given: Message = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
        result = await self.call("initialize", given | options | params)
        self.notify("initialized", {})
        return result

    async def eof(self) -> None:
        """Close the daemon's input."""
        self._writer.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await self._writer.wait_closed()

    # what came

    def answers(self, mid: str | int | None) -> list[Message]:
        """All answers with this id so far."""
        return [f for f in self.frames if "method" not in f and f.get("id") == mid]

    def notes(self, method: str) -> list[Any]:
        """The params of all notifications of this method so far."""
        return [f["params"] for f in self.frames if f.get("method") == method]

    async def answer(self, mid: str | int | None, seconds: float = 10) -> Message:
        """The answer with this id, which may have come already."""
        return await self.until(
            lambda f: "method" not in f and f.get("id") == mid, seconds, f"the answer to {mid!r}"
        )

    async def until(
        self,
        wanted: Callable[[Message], object],
        seconds: float = 10,
        what: str = "a frame",
        start: int = 0,
    ) -> Message:
        """The first frame that is wanted, from the past or the future."""
        try:
            async with asyncio.timeout(seconds):
                at = start
                while True:
                    for at in range(at, len(self.frames)):  # noqa: B020
                        if wanted(self.frames[at]):
                            return self.frames[at]
                    at = len(self.frames)
                    if self.ended or self.broken is not None:
                        raise AssertionError(f"the stream ended before {what}: {self.broken!r}")
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"no {what} in {seconds} s; {self.frames[-3:]}") from None

    async def exit_code(self, seconds: float = 10) -> int:
        """Wait for the end of the daemon's process."""
        assert self.process is not None
        return await asyncio.wait_for(self.process.wait(), seconds)

    async def close(self) -> None:
        """Stop reading and writing."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.eof()

    async def _read(self) -> None:
        while True:
            try:
                head = await self._reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as rest:
                self.broken = rest.partial or None
                break
            name, _, length = head.partition(b": ")
            if name != b"Content-Length" or not length.strip().isdigit():
                self.broken = head
                break
            self._keep(json.loads(await self._reader.readexactly(int(length))))
        self.ended = True
        self._changed.set()

    def _keep(self, message: Message) -> None:
        self.frames.append(message)
        self._changed.set()
        if "method" in message and "id" in message and message["method"] in self.reactions:
            answer = self.reactions[message["method"]](message.get("params"))
            self.send({"jsonrpc": "2.0", "id": message["id"], **answer})


def frame(message: object) -> bytes:
    """A message with its header."""
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@asynccontextmanager
async def spawned(
    *argv: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: int | None = None,
) -> AsyncIterator[RawClient]:
    """A client of a child process, which is killed at the end if it still lives."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        limit=1 << 26,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    client = RawClient(process.stdout, process.stdin)
    client.process = process
    try:
        yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await client.close()


def python(*argv: str) -> tuple[str, ...]:
    """A command line with this interpreter."""
    return (sys.executable, *argv)


@asynccontextmanager
async def connected(
    open_door: OpenDoor, *, limits: Limits | None = None
) -> AsyncIterator[tuple[RawClient, Connection]]:
    """A client of a door in this very process, over real pipes."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(our_in, "rb", 0)
    )
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(our_out, "wb", 0)
    )
    client = RawClient(reader, asyncio.StreamWriter(transport, protocol, None, loop))
    async with open_door() as door:
        gone: list[object] = []
        outbox = Outbox(their_out, gone.append, limits=limits)
        connection = Connection(door, outbox, gone.append)
        running: Awaitable[None] = asyncio.ensure_future(converse(connection, Line(their_in, -1)))
        try:
            yield client, connection
        finally:
            await client.eof()
            await asyncio.wait_for(running, 5)
            await outbox.flushed(1)
            outbox.close()
            await client.close()
            os.close(their_out)
            os.close(their_in)


class AgentProtocol(LanguageClientProtocol):
    """Keeps every notification in order before anybody handles it."""

    _server: AgentClient

    def _handle_notification(self, method_name: str, params: Any) -> None:
        self._server.keep(method_name, params)
        super()._handle_notification(method_name, params)  # type: ignore[no-untyped-call]  # pytest-lsp's own


class AgentClient(LanguageClient):
    """pytest-lsp's client for our own methods: plain JSON, nothing missed, a bounded stop."""

    protocol: AgentProtocol

    def __init__(self) -> None:
        super().__init__(protocol_cls=AgentProtocol, converter_factory=plain_converter)
        self.capabilities = types.ClientCapabilities()
        self.events: list[tuple[str, Any]] = []
        self._changed = asyncio.Event()

    def keep(self, method: str, params: Any) -> None:
        """A notification came."""
        self.events.append((method, params))
        self._changed.set()

    async def hello(self, agent: object = None, **params: Any) -> types.InitializeResult:
        """Say hello, with the block of an agent's client."""
        options = None if agent is None else {"agent": agent}
        return await self.initialize_session(
            types.InitializeParams(
                capabilities=self.capabilities or types.ClientCapabilities(),
                initialization_options=options,
                **params,
            )
        )

    async def call(self, method: str, params: object = None) -> Any:
        """A request of ours: its result as plain JSON. Errors are pygls' JsonRpcException."""
        asking = self.protocol.send_request_async(method, params or {})  # type: ignore[no-untyped-call]  # pytest-lsp's own
        return await asking

    async def until(
        self, wanted: Callable[[str, Any], object], seconds: float = 10, start: int = 0
    ) -> tuple[str, Any]:
        """The first notification that is wanted, from the past or the future."""
        async with asyncio.timeout(seconds):
            at = start
            while True:
                for at in range(at, len(self.events)):  # noqa: B020
                    if wanted(*self.events[at]):
                        return self.events[at]
                at = len(self.events)
                self._changed.clear()
                await self._changed.wait()

    async def stop(self) -> None:
        """End the daemon by the end of its input; kill it if that does not do."""
        if self._server is not None and self._server.returncode is None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            try:
                await asyncio.wait_for(self._server.wait(), 5)
            except TimeoutError:
                self._server.kill()
        await super().stop()  # type: ignore[no-untyped-call]  # pytest-lsp's own


def plain_converter() -> Converter:
    """lsprotocol's types as usual; our own messages stay as they came."""
    made = get_converter()
    made.register_structure_hook(
        JsonRPCRequestMessage,
        lambda m, _: JsonRPCRequestMessage(m["id"], m["method"], m["jsonrpc"], m.get("params")),
    )
    made.register_structure_hook(
        JsonRPCNotification,
        lambda m, _: JsonRPCNotification(m["method"], m["jsonrpc"], m.get("params")),
    )
    made.register_structure_hook(
        JsonRPCResponseMessage,
        lambda m, _: JsonRPCResponseMessage(m["id"], m["jsonrpc"], m.get("result")),
    )
    return made
