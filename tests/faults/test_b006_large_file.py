"""A session of 200,000 entries: opened, shown, forked and moved in without reading it whole."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.history.made import write_large
from tests.history.memory import peak_growth

from singletree.history.store import Store

MIB = 1 << 20


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_b006_a_large_session_is_quick_and_small(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent")
    path = store.folder("/w") / "large.jsonl"
    path.parent.mkdir(parents=True)
    ids = write_large(path, 200_000, text=330, path_length=200)
    size = path.stat().st_size
    assert size > 90 * MIB

    def work() -> None:
        began = time.perf_counter()
        history = store.open(path)
        page = history.entries(limit=100)
        rows = history.rows(around=history.leaf, limit=200)
        opened = time.perf_counter() - began
        assert len(page.entries) == 100 and len(rows.rows) >= 50
        assert path.stat().st_size == size
        assert len(history.path()) == 200
        assert len(history.context_path()) <= 200
        began = time.perf_counter()
        store.fork(history, history.leaf or "", "at").history.close()
        forked = time.perf_counter() - began
        began = time.perf_counter()
        history.move(ids[-100_000])
        history.context_path()
        moved = time.perf_counter() - began
        history.close()
        print(f"first page {opened:.2f} s, fork {forked:.3f} s, navigate {moved:.3f} s")
        assert opened <= 2 * 5 and forked <= 2 * 0.3 and moved <= 2 * 0.3

    grown = peak_growth(work)
    print(f"{grown / MIB:.0f} MiB")
    assert grown <= 300 * MIB
