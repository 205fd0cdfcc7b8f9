"""The whole daemon's costs beside a bare asyncio loop's, in one run: `make bench`.

From the start of the process to the first answer, to a session that can be used, to the first text
of a model; a request's round trip; a streamed piece of text from the model to the client. Both
take turns, the best of several rounds counts. Compare the ratio, not the figures, between machines.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.door import Client

ROUNDS = 5
DELTAS = 20_000
REQUESTS = 2_000
PIECE = "12345678"
BARE = [sys.executable, "-m", "tests.bench.bare"]

Figures = dict[str, float]


@contextmanager
def daemon(latency: int = 33) -> Iterator[tuple[Client, Path]]:
    """A daemon with a scripted model and folders of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as root:
        folder = Path(root) / "work"
        folder.mkdir()
        script = Path(root) / "script.jsonl"
        script.write_text(f'{{"text": "{PIECE}", "times": {DELTAS}, "chunk": {len(PIECE)}}}\n')
        command = [sys.executable, "-m", "singletree", "serve", "--stdio"]
        command += ["--model", f"scripted:{script}", "--no-trust"]
        client = Client(command, latency, PI_CODING_AGENT_DIR=f"{root}/agent")
        yield client, folder
        client.close()


def start_of_daemon() -> Figures:
    with daemon() as (client, folder):
        client.send(1, "agent/session/open", {"cwd": str(folder)})
        client.send(2, "agent/prompt", {"workspace": str(folder), "content": "go"})
        client.answer(0)
        figures = {"first answer": client.since_start()}
        client.answer(1)
        figures["usable session"] = client.since_start()
        client.until(b'"agent/delta"')
        figures["first text"] = client.since_start()
    return figures


def start_of_bare() -> Figures:
    client = Client(BARE)
    client.send(1, "example/echo", {})
    client.send(2, "example/stream", {"n": 1})
    client.answer(0)
    figures = {"first answer": client.since_start()}
    client.answer(1)
    figures["usable session"] = client.since_start()
    client.answer(2)
    figures["first text"] = client.since_start()
    client.close()
    return figures


def trips(client: Client, method: str, params: object) -> float:
    """Microseconds a request takes there and back: the median."""
    times = []
    for mid in range(10, 10 + REQUESTS):
        begun = time.perf_counter()
        client.send(mid, method, params)
        client.answer(mid)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def requests_of_daemon() -> Figures:
    with daemon() as (client, folder):
        client.answer(0)
        client.send(1, "agent/session/open", {"cwd": str(folder)})
        client.answer(1)
        return {
            "small request": trips(client, "agent/queue/list", {}),
            "state of a session": trips(client, "agent/session/state", {}),
        }


def requests_of_bare() -> Figures:
    client = Client(BARE)
    client.answer(0)
    took = trips(client, "example/echo", {"items": [], "version": 0})
    client.close()
    return {"small request": took, "state of a session": took}


def deltas_of_daemon() -> Figures:
    figures: Figures = {}
    for name, latency in (("delta, joined at 33 ms", 33), ("delta, not joined", 0)):
        with daemon(latency) as (client, folder):
            client.answer(0)
            client.send(1, "agent/session/open", {"cwd": str(folder)})
            client.answer(1)
            begun, spent = time.perf_counter(), client.cpu()
            client.send(2, "agent/prompt", {"content": "go"})
            client.until(b'"item_ended"')
            figures[name] = (time.perf_counter() - begun) / DELTAS * 1e6
            figures[f"{name}: CPU"] = (client.cpu() - spent) / DELTAS * 1e6
    return figures


def deltas_of_bare() -> Figures:
    client = Client(BARE)
    client.answer(0)
    begun, spent = time.perf_counter(), client.cpu()
    client.send(2, "example/stream", {"n": DELTAS})
    client.answer(2)
    took = (time.perf_counter() - begun) / DELTAS * 1e6
    cpu = (client.cpu() - spent) / DELTAS * 1e6
    client.close()
    figures: Figures = {}
    for name in ("delta, joined at 33 ms", "delta, not joined"):
        figures |= {name: took, f"{name}: CPU": cpu}
    return figures


def compare(unit: str, ours: Callable[[], Figures], bare: Callable[[], Figures]) -> None:
    """Both in turn, several rounds; print the best of each and the ratio."""
    rounds = [(ours(), bare()) for _ in range(ROUNDS)]
    for name in rounds[0][0]:
        best = min(one[name] for one, _ in rounds)
        least = min(other[name] for _, other in rounds)
        print(f"{name:<34}{best:9.1f} {least:9.1f} {best / least:7.2f}  {unit}", flush=True)


def main() -> None:
    """Print the figures."""
    print(f"{'':<34}{'daemon':>9} {'bare':>9} {'ratio':>7}")
    compare("ms", start_of_daemon, start_of_bare)
    compare("us", requests_of_daemon, requests_of_bare)
    compare("us", deltas_of_daemon, deltas_of_bare)


if __name__ == "__main__":
    main()
