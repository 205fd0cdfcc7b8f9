"""One client over two descriptors, from its first byte to the end of the process or the socket.

Joins reader, outbox and connection, and keeps the time at the end: what runs gets a bounded time to
end and save, what is unsent a bounded time to leave; then it is over, whatever still hangs. Never
knows a method or a session. Read next: ../connection.py, life.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from singletree.rpc.connection import Connection, Door
from singletree.rpc.doors.life import Life, Watch
from singletree.rpc.pipes.frames import Frame, HeaderFrames
from singletree.rpc.pipes.outbox import Outbox
from singletree.rpc.pipes.stdio import Reader

log = logging.getLogger(__name__)

END_SECONDS: Final = 2.0
FLUSH_SECONDS: Final = 0.5

OpenDoor = Callable[[], AbstractAsyncContextManager[Door]]


@dataclass(slots=True)
class Line:
    """The descriptors of a client, and what was read and done before the loop ran.

    `greeting`: the params of an `initialize` that is answered already; `frames`: what came after;
    `reader`: the thread that reads, once there is one.
    """

    reading: int
    writing: int
    splitter: HeaderFrames = field(default_factory=HeaderFrames)
    frames: list[Frame] = field(default_factory=list)
    greeting: dict[str, Any] | None = None
    reader: Reader | None = None


async def serve(open_door: OpenDoor, line: Line) -> int:
    """Serve one client for the life of this process; the exit code.

    Leaving the door's context ends and saves everything; it may take END_SECONDS.
    """
    life = Life()
    return await spend(life, _serve_until(life, open_door, line))


async def spend(life: Life, doing: Coroutine[None, None, None]) -> int:
    """Do what a process is for until its end has come, and a bounded time longer; the exit code."""
    body = asyncio.ensure_future(doing)
    ended = asyncio.ensure_future(life.ended())
    await asyncio.wait({body, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not body.done():
        await asyncio.wait({body}, timeout=END_SECONDS + FLUSH_SECONDS)
    if not body.done():
        log.error("something would not end; leaving without it")
        body.cancel()
    elif not body.cancelled() and (error := body.exception()) is not None:
        log.error("the daemon failed", exc_info=error)
        life.stop(1)
    return await life.ended()


async def _serve_until(life: Life, open_door: OpenDoor, line: Line) -> None:
    outbox = Outbox(line.writing, lambda error: life.stop(0))
    life.watch_pipe(line.writing)
    async with open_door() as door:
        connection = Connection(
            door, outbox, life.stop, lambda client: life.watch_parent(client.process_id)
        )
        running = asyncio.ensure_future(converse(connection, line))
        running.add_done_callback(lambda task: life.stop(_code_of(task)))
        await life.ended()
        running.cancel()
        await asyncio.wait({running})
    await outbox.flushed(FLUSH_SECONDS)
    outbox.close()


async def serve_socket(door: Door, client: socket.socket) -> None:
    """Serve one client of many over its own socket, until either side ends; closes it."""
    client.setblocking(True)
    line = Line(client.fileno(), client.fileno())
    outbox = Outbox(line.writing, lambda error: running.cancel())
    parent = Watch(lambda: connection.end())
    connection = Connection(
        door,
        outbox,
        lambda code: connection.end(),
        lambda client: parent.watch(client.process_id),
    )
    running = asyncio.ensure_future(converse(connection, line))
    try:
        await asyncio.wait({running})
    finally:
        running.cancel()
        parent.close()
        await _hang_up(client, line, outbox)
    if not running.cancelled() and (error := running.exception()) is not None:
        log.error("the connection failed", exc_info=error)


async def _hang_up(client: socket.socket, line: Line, outbox: Outbox) -> None:
    """Let go out what waits, and close: at once where even this is cancelled."""
    with client:
        try:
            await outbox.flushed(FLUSH_SECONDS)
        finally:
            outbox.close()
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)  # wakes both threads
        await asyncio.to_thread(_join, line, outbox)


async def converse(connection: Connection, line: Line) -> None:
    """Feed a connection from its line until the stream ends or the client leaves."""
    if line.greeting is not None:
        connection.greet(line.greeting)
    loop = asyncio.get_running_loop()

    def deliver(frames: list[Frame]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(connection.take, frames, reader.handled)

    def ended(error: OSError | None) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(connection.end)

    line.reader = reader = Reader(line.reading, line.splitter, deliver, ended)
    connection.take(line.frames)
    reader.start()
    await connection.run()


def _join(line: Line, outbox: Outbox) -> None:
    """A descriptor may be closed, and its number used again, only when no thread has it."""
    if line.reader is not None:
        line.reader.stop()
        line.reader.join()
    outbox.join()


def _code_of(task: asyncio.Task[None]) -> int:
    if task.cancelled() or (error := task.exception()) is None:
        return 0
    log.error("the connection failed", exc_info=error)
    return 1
