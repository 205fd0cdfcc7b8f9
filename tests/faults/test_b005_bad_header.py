"""A broken first line: nothing is overwritten, and what can be read can be had in a copy."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from tests.history.made import encoded, said

from singletree.errors import SessionUnreadable
from singletree.history.entries import MessageEntry
from singletree.history.store import Store
from singletree.messages import UserMessage, text_of


def test_b005_a_file_that_holds_entries_is_never_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent")
    path = store.folder("/w") / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{broken\n" + encoded(said("a", None, "keep me")))
    before = sha256(path.read_bytes()).digest()
    with pytest.raises(SessionUnreadable) as caught:
        store.open(path)
    assert caught.value.hint is not None and "copy" in caught.value.hint
    assert sha256(path.read_bytes()).digest() == before
    copy = store.rescue(path, "/w")
    (entry,) = copy.path()
    assert isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
    assert text_of(entry.message.content) == "keep me"
    assert copy.file != path
    assert sha256(path.read_bytes()).digest() == before
    copy.close()
