"""A cut last line: the session opens with all before it, goes on, and the bytes are kept."""

from __future__ import annotations

from pathlib import Path

from tests.history.made import header, said, user, write

from singletree.history.store import Store

TORN = b'{"type":"message","id":"e4","par'


def test_b003_a_cut_last_line_loses_nothing_else(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent")
    lines = [header(), said("e1", None, "1"), said("e2", "e1", "2"), said("e3", "e2", "3")]
    path = write(store.folder("/w") / "s.jsonl", lines, tail=TORN)
    history = store.open(path)
    assert [e.id for e in history.path()] == ["e1", "e2", "e3"]
    (damage,) = history.damage
    assert "Line 5" in damage.message
    assert damage.kept is not None and damage.kept.read_bytes() == TORN
    made = history.append(user("go on"))
    assert made.parent_id == "e3"
    history.close()
    last = path.read_bytes().splitlines()[-1]
    assert last.startswith(b'{"type":"message","id":"' + made.id.encode())
    again = store.open(path)
    assert again.damage == ()
    assert [e.id for e in again.path()] == ["e1", "e2", "e3", made.id]
    again.close()
