"""100,000 entries: opening beside plain decoding, in time (told) and memory (bounded)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.history.made import write_large
from tests.history.memory import peak_growth

from singletree.history.recovery import recover
from singletree.history.store import Store

MIB = 1 << 20
ENTRIES = 100_000
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "sessions" / "large.jsonl"
    path.parent.mkdir()
    write_large(path, ENTRIES)
    return path


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def decode_all(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if json.loads(line))


def test_opening_beside_decoding(large: Path) -> None:
    assert large.stat().st_size > 75 * MIB
    ours = min(seconds(lambda: recover(large)) for _ in range(3))
    decoding = min(seconds(lambda: decode_all(large)) for _ in range(2))
    print(f"opening takes {ours:.3f} s, decoding {decoding:.3f} s: 1/{decoding / ours:.1f}")
    found = recover(large)
    assert len(found.index) == ENTRIES
    assert found.damage == () and found.size == large.stat().st_size


def test_the_index_is_small(large: Path) -> None:
    grown = peak_growth(lambda: _hold(recover(large)))
    print(f"the index takes {grown / MIB:.0f} MiB")
    assert grown < 60 * MIB


def test_working_with_it(large: Path) -> None:
    def work() -> None:
        store = Store(large.parent.parent / "agent", large.parent)
        history = store.open(large)
        told: dict[str, float] = {}
        told["first rows"] = seconds(lambda: history.rows(limit=200))
        told["rows around the leaf"] = seconds(lambda: history.rows(around=history.leaf))
        told["rows of users"] = seconds(lambda: history.rows("userOnly"))
        told["a search"] = seconds(lambda: history.rows(search="word17 word19"))
        told["last page"] = seconds(lambda: history.entries(limit=500))
        told["context path"] = seconds(history.context_path)
        told["the same again"] = seconds(history.context_path)
        told["list"] = seconds(store.list)
        print({name: round(taken * 1000, 1) for name, taken in told.items()}, "ms")
        assert len(history.rows(limit=200).rows) == 200
        assert history.entry_count == ENTRIES
        history.close()

    grown = peak_growth(work)
    print(f"all together takes {grown / MIB:.0f} MiB")
    assert grown < 200 * MIB


def test_a_page_at_a_time_sees_every_row(large: Path) -> None:
    history = Store(large.parent.parent / "agent", large.parent).open(large, read_only=True)
    seen: set[str] = set()
    start: int | None = 0
    count = 0
    while start is not None:
        page = history.rows("userOnly", start=start, limit=5000)
        seen.update(row.entry_id for row in page.rows)
        count += len(page.rows)
        start = page.next
    users = sum(1 for row in history.tree.rows() if history.tree.index.kind(row).role == "user")
    assert len(seen) == count == users
    history.close()


def _hold(found: object) -> None:
    """Keep it until the memory was measured."""
    assert found is not None
