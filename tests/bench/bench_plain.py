"""What a host that knows only LSP waits for: code actions, and texts of a large session.

`make bench`. The first code action pays for loading pygls; while a text of 100,000 entries is made,
other requests are answered, and the longest of them is told.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

from tests.history.made import write_large
from tests.rpc.client import Message
from tests.rpc.plain import ALL, PlainHost, plain

ENTRIES = 100_000
ROUNDS = 500
MODERN: Message = {**ALL, "workspace": {"textDocumentContent": {}}}


async def milliseconds(work: Awaitable[object]) -> float:
    begun = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - begun)


async def code_actions(host: PlainHost, uri: str) -> None:
    print(f"the first code action: {await milliseconds(host.actions(uri, 0, 3)):.0f} ms")
    times = [await milliseconds(host.actions(uri, 0, 3)) for _ in range(ROUNDS)]
    slow = statistics.quantiles(times, n=100)[-1]
    print(f"any other: {statistics.median(times):.2f} ms (99 of 100 within {slow:.2f} ms)")


async def text(host: PlainHost, uri: str, address: str) -> None:
    begun, longest = time.perf_counter(), 0.0
    mid = host.client.request("workspace/textDocumentContent", {"uri": address})
    while not host.client.answers(mid):
        longest = max(longest, await milliseconds(host.actions(uri, 0, 3)))
        await asyncio.sleep(0.005)
    took = time.perf_counter() - begun
    print(f"{address.rpartition('/')[2]}: {took:.2f} s, meanwhile at most {longest:.0f} ms")


async def main(root: Path) -> None:
    done = {"text": "done", "repeat": True}
    async with plain(root, done, capabilities=MODERN) as host:
        uri = host.editor.open(host.folder / "a.py", "one two\n")
        await code_actions(host, uri)
        await host.run("agent.prompt", "go")
        await host.until_told("done")
        (file,) = (root / "agent" / "sessions").glob("*/*")
        large = file.with_name("2026-01-01T00-00-00-000Z_s1.jsonl")
        write_large(large, ENTRIES)
        print(f"of {ENTRIES} entries, {large.stat().st_size / 1e6:.0f} MB:")
        for name in ("transcript.md", "tree.txt"):
            await text(host, uri, f"agent://s1/{name}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        asyncio.run(main(Path(folder)))
