"""The door's costs beside a bare asyncio loop's, in one run: `python -m tests.bench.door`.

Start to the first answer and to the first one of a method of ours; a small request's round trip,
one after the other and many at once; a streamed piece of text, joined at 33 ms and not joined.
Compare only within a row, and the ratio between runs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
DOOR, BARE = "tests.rpc.start", "tests.bench.bare"
ROUNDS = 7


class Client:
    """A blocking client, as cheap as one can be."""

    def __init__(self, command: Sequence[str], latency: int = 33, **variables: str) -> None:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | variables
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=env,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout
        agent = {"events": {"maxLatencyMs": latency}}
        self.send(0, "initialize", {"capabilities": {}, "initializationOptions": {"agent": agent}})

    def send(self, mid: int, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": mid, "method": method, "params": params}
        body = json.dumps(message).encode()
        self.input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def read(self) -> bytes:
        head = self.output.readline()
        self.output.readline()
        return self.output.read(int(head[16:]))

    def answer(self, mid: int) -> int:
        """Read up to an answer; how many frames came before it."""
        self.input.flush()
        count, mark = 0, b'"id":%d,' % mid
        while mark not in self.read().replace(b": ", b":").replace(b", ", b",")[:60]:
            count += 1
        return count

    def until(self, mark: bytes) -> None:
        """Read up to a frame that holds this."""
        self.input.flush()
        while mark not in self.read()[:400]:
            pass

    def since_start(self) -> float:
        """Milliseconds since the process was begun."""
        return (time.perf_counter() - self.begun) * 1000

    def cpu(self) -> float:
        """Seconds of CPU that the process has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.input.close()
        self.process.wait()


def start(module: str) -> tuple[float, float]:
    """Milliseconds to the first answer, and to the first of a method of ours."""
    client = Client([sys.executable, "-m", module])
    client.send(1, "example/echo", {})
    client.answer(0)
    first = time.perf_counter() - client.begun
    client.answer(1)
    second = time.perf_counter() - client.begun
    client.close()
    return first * 1000, second * 1000


def ready(module: str, latency: int = 33) -> Client:
    client = Client([sys.executable, "-m", module], latency)
    client.answer(0)
    client.send(1, "example/listen", {})
    client.answer(1)
    return client


def round_trip(module: str) -> tuple[float, float]:
    """Microseconds a request: one after the other (median), and 5,000 written at once."""
    client = ready(module)
    times = []
    for mid in range(10, 2010):
        begun = time.perf_counter()
        client.send(mid, "example/echo", {"x": 1})
        client.answer(mid)
        times.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    for mid in range(3000, 8000):
        client.send(mid, "example/echo", {"x": 1})
    client.answer(7999)
    many = (time.perf_counter() - begun) / 5000
    client.close()
    return statistics.median(times) * 1e6, many * 1e6


def streamed(latency: int) -> Callable[[str], tuple[float, float]]:
    def measure(module: str) -> tuple[float, float]:
        """Microseconds a piece until all is here, and frames for 20,000 pieces."""
        client = ready(module, latency)
        begun = time.perf_counter()
        client.send(2, "example/stream", {"n": 20_000})
        frames = client.answer(2)
        took = time.perf_counter() - begun
        client.close()
        return took / 20_000 * 1e6, frames

    return measure


def row(name: str, unit: str, measure: Callable[[str], tuple[float, ...]]) -> dict[str, Any]:
    """Both in turn, several rounds; the best of each."""
    rounds = [(measure(DOOR), measure(BARE)) for _ in range(ROUNDS)]
    door = [min(values) for values in zip(*(d for d, _ in rounds), strict=True)]
    bare = [min(values) for values in zip(*(b for _, b in rounds), strict=True)]
    ratio = [d / b for d, b in zip(door, bare, strict=True)]
    cells = "   ".join(
        f"{d:9.1f} {b:9.1f} {r:6.2f}" for d, b, r in zip(door, bare, ratio, strict=True)
    )
    print(f"{name:<34}{unit:>4}  {cells}", flush=True)
    return {"name": name, "unit": unit, "door": door, "bare": bare, "ratio": ratio}


def main() -> None:
    print(f"{'':<38}{'door':>11} {'bare':>9} {'ratio':>6}   {'door':>9} {'bare':>9} {'ratio':>6}")
    row("start: initialize, own method", "ms", start)
    row("request: one by one, 5,000 at once", "us", round_trip)
    row("delta at 33 ms: each, frames", "us", streamed(33))
    row("delta unjoined: each, frames", "us", streamed(0))


if __name__ == "__main__":
    main()
