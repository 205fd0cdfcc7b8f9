"""CPU that 20,000 deltas cost, against httpx reading the same bytes and throwing them away.

Two rows for each way the server writes them: the model alone, and the whole daemon from the network
to its client. The server is a process of its own: only the reading side counts. Run it alone with
`python -m tests.bench.bench_stream`; compare the ratio, not the figures, between machines.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import anyio
import httpx
from tests.bench.door import Client

from singletree.messages import UserMessage
from singletree.model.base import Delta, ModelInfo, ModelRequest
from singletree.model.http import Http
from singletree.model.remote import RemoteModel

DELTAS = 20_000
ROUNDS = 5
PIECE = "12345678"
CHUNKS = (1, 64)
"""Deltas in one write: a server that writes each by itself, and a fast one behind a proxy."""


def main() -> None:
    """Print the figures."""
    print(f"{'':<34}{'us':>9} {'httpx':>9} {'ratio':>7}")
    for chunk in CHUNKS:
        here, there = multiprocessing.Pipe()
        server = multiprocessing.Process(target=_serve, args=(there, chunk), daemon=True)
        server.start()
        port = here.recv()
        floor = min(anyio.run(_discard, port) for _ in range(ROUNDS))
        _row(f"model, {chunk} a write", min(anyio.run(_model, port) for _ in range(ROUNDS)), floor)
        _row(f"whole daemon, {chunk} a write", _daemon(port), floor)
        server.kill()


def _row(name: str, spent: float, floor: float) -> None:
    each, least = spent / DELTAS * 1e6, floor / DELTAS * 1e6
    print(f"{name:<34}{each:9.1f} {least:9.1f} {spent / floor:7.2f}", flush=True)


async def _discard(port: int) -> float:
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        started = time.process_time()
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        async with client.stream("POST", url, content=b"{}") as response:
            async for _ in response.aiter_raw():
                pass
        return time.process_time() - started


async def _model(port: int) -> float:
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


def _daemon(port: int) -> float:
    """From the prompt until the client has the whole answer; the best of several turns."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as root:
        agent = Path(root) / "agent"
        agent.mkdir()
        url = f"http://127.0.0.1:{port}/v1"
        given = {"baseUrl": url, "api": "openai-completions", "apiKey": "k"}
        models = {"providers": {"fake": {**given, "models": [{"id": "m"}]}}}
        (agent / "models.json").write_text(json.dumps(models))
        command = [sys.executable, "-m", "singletree", "serve", "--stdio", "--no-trust"]
        client = Client([*command, "--model", "fake/m"], PI_CODING_AGENT_DIR=str(agent))
        client.answer(0)
        spent = []
        for turn in range(ROUNDS + 1):
            client.send(2 * turn + 1, "agent/session/open", {"cwd": root, "start": "new"})
            client.answer(2 * turn + 1)
            before = client.cpu()
            client.send(2 * turn + 2, "agent/prompt", {"workspace": root, "content": "go"})
            client.until(b'"item_ended"')
            spent.append(client.cpu() - before)
        client.close()
        return min(spent)


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
