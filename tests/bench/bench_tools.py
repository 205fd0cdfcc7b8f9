"""What a tool call costs through the whole daemon, beside a bare loop in one run: `make bench`.

Fifty reads of a small file, one after the other, each its own request to a server of models on this
machine; counted is what is left when the server's own time is taken away. The loop that it is
compared with only opens the file and encodes it. Compare the ratio between machines.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from tests.bench.door import Client

CALLS = 50
ROUNDS = 7
TEXT = "".join(f"line {n} of a small file\n" for n in range(20))
COMMAND = [sys.executable, "-m", "singletree", "serve", "--stdio", "--model", "fp/m", "--no-trust"]


class Server:
    """The server's process: asked for some calls, it tells what it took for itself."""

    def __init__(self) -> None:
        self._pipe, there = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=serve, args=(there,), daemon=True)
        self._process.start()
        self.url = f"http://127.0.0.1:{self._pipe.recv()}/v1/chat/completions"

    def will_call(self, name: str, arguments: object, times: int) -> None:
        """What it is to call from now on, and how often."""
        self._pipe.send((name, json.dumps(arguments), times))
        self._pipe.recv()

    def took(self) -> float:
        """Seconds between a request and the end of its answer, all together."""
        self._pipe.send(None)
        return float(self._pipe.recv())

    def close(self) -> None:
        self._process.kill()


class Answers:
    """What the server answers, and for how long it was at it."""

    def __init__(self) -> None:
        self.name, self.arguments, self.left, self.seconds = "", "", 0, 0.0

    def control(self, pipe: Connection) -> None:
        """Heed the one who measures."""
        while True:
            told = pipe.recv()
            if told is None:
                pipe.send(self.seconds)
            else:
                self.name, self.arguments, self.left = told
                self.seconds = 0.0
                pipe.send(None)

    def next(self) -> bytes:
        """The next answer."""
        delta: dict[str, object] = {"content": "done"}
        if self.left:
            self.left -= 1
            call = {"name": self.name, "arguments": self.arguments}
            given = {"index": 0, "id": f"c{self.left}", "type": "function", "function": call}
            delta = {"tool_calls": [given]}
        end = "tool_calls" if "tool_calls" in delta else "stop"
        chunks = [{"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": end}]
        counted = {"choices": [], "usage": {"prompt_tokens": 2_000, "completion_tokens": 20}}
        told = [*({"choices": [chunk]} for chunk in chunks), counted]
        events = [f"data: {json.dumps(one)}\n\n" for one in told]
        return "".join([*events, "data: [DONE]\n\n"]).encode()

    def talk(self, client: socket.socket) -> None:
        """One connection, until it is closed."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, client.makefile("rb") as file:
            while first := file.readline():
                length = 0
                while (line := file.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line[15:])
                file.read(length)
                begun = time.perf_counter()
                body = self.next() if first.startswith(b"POST") else b"{}"
                client.sendall(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
                )
                self.seconds += time.perf_counter() - begun


def serve(pipe: Connection) -> None:
    """The server."""
    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(listener.getsockname()[1])
    answers = Answers()
    threading.Thread(target=answers.control, args=(pipe,), daemon=True).start()
    while True:
        threading.Thread(target=answers.talk, args=(listener.accept()[0],), daemon=True).start()


@contextmanager
def daemon(root: Path, server: Server) -> Iterator[Client]:
    """A daemon in which one turn has been."""
    agent_dir, folder = root / "agent", root / "work"
    folder.mkdir()
    (folder / "note.txt").write_text(TEXT)
    agent_dir.mkdir()
    url = server.url.removesuffix("/chat/completions")
    model = {"id": "m", "contextWindow": 1_000_000}
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "k", "models": [model]}
    (agent_dir / "models.json").write_text(json.dumps({"providers": {"fp": provider}}))
    client = Client(COMMAND, PI_CODING_AGENT_DIR=str(agent_dir))
    client.answer(0)
    client.send(1, "agent/session/open", {"cwd": str(folder)})
    client.answer(1)
    client.send(2, "agent/permission/setMode", {"mode": "allowAll"})
    client.answer(2)
    server.will_call("", {}, 0)
    turn(client)
    yield client
    client.close()


def turn(client: Client) -> float:
    """Seconds a turn takes."""
    begun = time.perf_counter()
    client.send(9, "agent/prompt", {"content": "go"})
    client.until(b'"type":"turn_ended"')
    took = time.perf_counter() - begun
    client.until(b'"type":"settled"')
    return took


def ours(server: Server, name: str, arguments: object) -> tuple[float, float]:
    """Milliseconds a call takes over the server's own, and those of CPU."""
    folder = tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)
    with folder as root, daemon(Path(root), server) as client:
        server.will_call(name, arguments, 3)
        turn(client)
        server.will_call(name, arguments, CALLS)
        spent = client.cpu()
        took = turn(client) - server.took()
        return took / CALLS * 1e3, (client.cpu() - spent) / CALLS * 1e3


def bare(server: Server) -> float:
    """The same of the bare loop."""
    with tempfile.TemporaryDirectory(prefix="bench-") as root:
        note = Path(root) / "note.txt"
        note.write_text(TEXT)
        server.will_call("read", {"path": "note.txt"}, CALLS)
        command = [sys.executable, "-m", "tests.bench.bare_tools", server.url, str(note)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return (float(told) - server.took()) / CALLS * 1e3


def main() -> None:
    """Print the figures."""
    server = Server()
    rounds = [(ours(server, "read", {"path": "note.txt"}), bare(server)) for _ in range(ROUNDS)]
    shell, shell_cpu = min(ours(server, "bash", {"command": "true"}) for _ in range(ROUNDS))
    (read, cpu), least = min(one for one, _ in rounds), min(other for _, other in rounds)
    print(f"{'a call over the server, ms':<34}{'daemon':>9} {'bare':>9} {'ratio':>7} {'CPU':>6}")
    row = f"{'read of a small file':<34}{read:9.2f} {least:9.2f} {read / least:7.2f} {cpu:6.1f}"
    print(f"{row}\n{'bash true':<34}{shell:9.2f} {'':17} {shell_cpu:6.1f}")
    server.close()


if __name__ == "__main__":
    main()
