"""A provider on 127.0.0.1: scripted bytes for request number n, and a check of what it is sent.

It is strict as the strictest real ones are: every result has its call before it, every call is
answered, no text block is empty. A request that breaks a rule gets a 400 that names it.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSListener

Piece = bytes | float
"""Bytes to send in one write, or seconds to wait."""


@dataclass
class Reply:
    """One answer. `cut`: the connection breaks at its end; `hold`: it stays open and silent."""

    pieces: Sequence[Piece] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    cut: bool = False
    hold: bool = False


@dataclass
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    version: str = "HTTP/1.1"


def events(*items: Any, name: bool = False) -> bytes:
    """Server-sent events of JSON values; strings go as they are. `name`: with an event line."""
    lines = []
    for item in items:
        data = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        if name and isinstance(item, dict):
            lines.append(f"event: {item['type']}")
        lines.append(f"data: {data}\n")
    return "\n".join([*lines, ""]).encode()


def chat(*deltas: dict[str, Any], finish: str | None = "stop", usage: Any = None) -> bytes:
    """A chat completions stream."""
    chunks: list[Any] = [{"id": "c1", "choices": [{"index": 0, "delta": d}]} for d in deltas]
    if finish is not None:
        chunks.append({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None:
        chunks.append({"id": "c1", "choices": [], "usage": usage})
    return events(*chunks, "[DONE]")


def spoken(text: str, stop: str = "end_turn") -> bytes:
    """A messages stream of one text."""
    usage = {"input_tokens": 5, "output_tokens": 1}
    return events(
        {"type": "message_start", "message": {"id": "m1", "model": "m", "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
        name=True,
    )


def refusal(status: int, body: Any, **headers: str) -> Reply:
    """An answer that is no 2xx."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/plain" if isinstance(body, str) else "application/json"
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Reply([text.encode()], status, {"content-type": kind, **named})


class FakeServer:
    """`replies` in order (the last one again and again), or a function of the request."""

    def __init__(self, replies: Sequence[Reply | bytes] | Callable[[Seen], Reply]) -> None:
        self._replies = replies
        self.seen: list[Seen] = []
        self.url = ""
        self.open = 0
        self.empty = anyio.Event()
        self._streams: list[ByteStream] = []
        self.connections = 0
        self.rules: list[Callable[[Seen], str | None]] = [broken_rule]

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return [seen.body for seen in self.seen]

    async def drop(self) -> None:
        """Close all connections, as servers do with idle ones."""
        for stream in self._streams:
            await anyio.aclose_forcefully(stream)

    def _reply(self, seen: Seen) -> Reply:
        for rule in self.rules:
            broken = rule(seen)
            if broken:
                return refusal(400, {"error": {"message": broken, "type": "invalid_request_error"}})
        if callable(self._replies):
            return self._replies(seen)
        reply = self._replies[min(len(self.seen), len(self._replies)) - 1]
        return reply if isinstance(reply, Reply) else Reply([reply])

    async def serve(self, stream: ByteStream) -> None:
        """One connection."""
        self.open += 1
        self.connections += 1
        self._streams.append(stream)
        try:
            async with stream:
                stream.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
                )
                while await self._exchange(stream):
                    pass
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            pass
        finally:
            self.open -= 1
            if not self.open:
                self.empty.set()

    async def _exchange(self, stream: ByteStream) -> bool:
        seen = await _read(stream)
        if seen is None:
            return False
        self.seen.append(seen)
        reply = self._reply(seen)
        simple = seen.version == "HTTP/1.0"
        head = [f"{seen.version} {reply.status} X"]
        head += [] if simple else ["transfer-encoding: chunked"]
        head += [f"{key}: {value}" for key, value in reply.headers.items()]
        await stream.send("\r\n".join([*head, "", ""]).encode())
        for piece in reply.pieces:
            if isinstance(piece, float):
                await anyio.sleep(piece)
            elif piece and simple:
                await stream.send(piece)
            elif piece:
                await stream.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        if reply.hold:
            await stream.receive()  # until the client goes
        if reply.cut or reply.hold or simple:
            return False
        await stream.send(b"0\r\n\r\n")
        return True


TLS = Path(__file__).parent / "tls"
"""A certificate for this machine, and the authority that signed it; made for these tests only."""


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "server.pem")
    return context


async def _read(stream: ByteStream) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            data += await stream.receive()
        except anyio.EndOfStream:
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    method, path, version = first.split(" ")
    return Seen(method, path, headers, json.loads(body) if body else None, version)


@asynccontextmanager
async def serving(
    replies: Sequence[Reply | bytes] | Callable[[Seen], Reply],
    host: str = "127.0.0.1",
    *,
    tls: bool = False,
) -> AsyncIterator[FakeServer]:
    """A server for the time of the block."""
    server = FakeServer(replies)
    plain = await anyio.create_tcp_listener(local_host=host)
    listener = TLSListener(plain, _context(), standard_compatible=False) if tls else plain
    async with listener, anyio.create_task_group() as group:
        port = plain.extra(anyio.abc.SocketAttribute.local_port)
        shown = f"[{host}]" if ":" in host else host
        server.url = f"{'https' if tls else 'http'}://{shown}:{port}"
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


def broken_rule(seen: Seen) -> str | None:
    """The rule that a request breaks."""
    if not isinstance(seen.body, dict):
        return None
    for message in seen.body.get("messages", []):
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if block.get("type") == "text" and not block["text"]:
                return "text content blocks must be non-empty"
    return _unpaired(_moves(seen.body))


def _moves(body: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The conversation as rows of calls, results and anything else."""
    moves: list[tuple[str, list[str]]] = []
    for message in body.get("messages", []):
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        uses = [b["id"] for b in blocks if b.get("type") == "tool_use"]
        uses += [c["id"] for c in message.get("tool_calls") or []]
        results = [b["tool_use_id"] for b in blocks if b.get("type") == "tool_result"]
        if message["role"] == "tool":
            results.append(message["tool_call_id"])
        if uses:
            moves.append(("calls", uses))
        elif results and moves and moves[-1][0] == "results":
            moves[-1][1].extend(results)
        else:
            moves.append(("results", results) if results else ("other", []))
    return moves


def _unpaired(moves: list[tuple[str, list[str]]]) -> str | None:
    pending: set[str] = set()
    for kind, ids in moves:
        if kind == "results":
            if len(set(ids)) != len(ids) or not set(ids) <= pending:
                return f"a tool result has no call: {ids}"
            pending -= set(ids)
        elif pending:
            return f"a tool call has no result: {sorted(pending)}"
        if kind == "calls":
            if len(set(ids)) != len(ids):
                return f"two calls have one id: {ids}"
            pending = set(ids)
    return f"a tool call has no result: {sorted(pending)}" if pending else None
