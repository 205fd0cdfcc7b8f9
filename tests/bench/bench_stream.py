"""CPU that 20,000 deltas cost, against httpx reading the same bytes and throwing them away.

Run: python -m tests.bench.bench_stream. The server is a process of its own: only the reading
side counts.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

import anyio
import httpx

from singletree.messages import UserMessage
from singletree.model.base import Delta, ModelInfo, ModelRequest
from singletree.model.http import Http
from singletree.model.remote import RemoteModel

DELTAS = 20_000
ROUNDS = 5
PIECE = "12345678"
CHUNK = 64
"""Deltas in one write, as a fast provider's packets hold them."""


def main() -> None:
    """Print the figures."""
    for chunk in (1, CHUNK):
        here, there = multiprocessing.Pipe()
        server = multiprocessing.Process(target=_serve, args=(there, chunk), daemon=True)
        server.start()
        port = here.recv()
        plain = min(anyio.run(_discard, port) for _ in range(ROUNDS))
        ours = min(anyio.run(_ours, port) for _ in range(ROUNDS))
        server.kill()
        print(
            f"{DELTAS} deltas, {chunk} a write: httpx to nothing {plain * 1000:.0f} ms CPU, "
            f"ours {ours * 1000:.0f} ms, ratio {ours / plain:.2f}, "
            f"{(ours - plain) / DELTAS * 1e6:.1f} us a delta"
        )


async def _discard(port: int) -> float:
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        started = time.process_time()
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        async with client.stream("POST", url, content=b"{}") as response:
            async for _ in response.aiter_raw():
                pass
        return time.process_time() - started


async def _ours(port: int) -> float:
    info = ModelInfo("fake", "m", api="openai-completions", base_url=f"http://127.0.0.1:{port}/v1")
    http = Http({})
    await http.warm_up()
    model = RemoteModel(info, http, key="k")
    started = time.process_time()
    size = 0

    def hear(deltas: Sequence[Delta]) -> None:
        nonlocal size
        size += sum(len(delta.text) for delta in deltas)

    request = ModelRequest(system="", messages=(UserMessage(content="hi"),))
    await model.answer(request, hear)
    spent = time.process_time() - started
    assert size == DELTAS * len(PIECE)
    await http.close()
    return spent


def _serve(pipe: Connection, chunk: int) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(listener.getsockname()[1])
    delta = {"id": "c", "choices": [{"index": 0, "delta": {"content": PIECE}}]}
    event = f"data: {json.dumps(delta)}\n\n".encode()
    end = {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    last = f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode()
    while True:
        client, _ = listener.accept()
        with client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.recv(65536)
            client.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            piece = event * chunk
            framed = b"%x\r\n%b\r\n" % (len(piece), piece)
            for _ in range(DELTAS // chunk):
                client.sendall(framed)
            rest = event * (DELTAS % chunk) + last
            client.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(rest), rest))
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass


if __name__ == "__main__":
    main()
