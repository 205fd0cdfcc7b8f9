"""What a turn changed, as a patch that git understands."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.test_ledger import DISK, make

from singletree.session.edits.ledger import Ledger
from singletree.session.edits.patch import _patch, turn_patch
from singletree.session.edits.revert import content
from singletree.session.events import EditsChanged
from singletree.tools.disk import MAX_WHOLE

READ = partial(content, DISK)


class Books:
    """A ledger whose turn can be chosen."""

    def __init__(self, root: Path) -> None:
        self.turn = "t1"
        self.root = root
        self.ledger = Ledger(root / "ledger", lambda: self.turn, self._heard, self._warned)

    def _heard(self, event: EditsChanged) -> None:
        return None

    def _warned(self, message: str) -> None:
        raise AssertionError(message)

    async def change(self, turn: str, name: str, after: bytes) -> None:
        self.turn = turn
        path = self.root / name
        await make(self.ledger, path, await READ(path), after)

    async def patch(self, turn: str) -> str | None:
        edits = await self.ledger.edits(READ)
        return await turn_patch(edits, turn, self.ledger, DISK, self.root)


async def test_each_file_from_its_first_edit_to_its_last(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (tmp_path / "a").write_text("one\ntwo\n")
    await books.change("t1", "a", b"one\n2\n")
    await books.change("t1", "new", b"fresh\n")
    await books.change("t1", "a", b"1\n2\n")
    assert await books.patch("t1") == (
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n-two\n+1\n+2\n"
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+fresh\n"
    )
    assert await books.patch("t2") is None


async def test_what_a_later_turn_did_is_not_in_it(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (tmp_path / "a").write_text("one\n")
    await books.change("t1", "a", b"two\n")
    await books.change("t2", "a", b"three\n")
    assert "+two\n" in (await books.patch("t1") or "")
    assert "-two\n+three\n" in (await books.patch("t2") or "")


async def test_what_somebody_has_changed_since_is_said(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (tmp_path / "a").write_text("one\n")
    await books.change("t1", "a", b"two\n")
    (tmp_path / "a").write_text("mine\n")
    assert await books.patch("t1") == "# a has changed since, or is too large to compare.\n"


async def test_a_file_that_grew_too_large_spoils_nothing_beside_it(tmp_path: Path) -> None:
    books = Books(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_text("one\n")
        await books.change("t1", name, b"two\n")
    await anyio.to_thread.run_sync(os.truncate, tmp_path / "a", MAX_WHOLE + 1)
    assert (await books.patch("t1") or "").endswith(
        "# a has changed since, or is too large to compare.\n"
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-one\n+two\n"
    )


async def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    await books.change("t1", "a", b"two\n")
    assert await books.patch("t1") == "# a is no text.\n"


pieces = st.text(st.sampled_from("ab\n\u2028\x0c é"), max_size=30)


@given(old=pieces.filter(bool), new=pieces.filter(bool))
@settings(max_examples=30)
def test_git_applies_it(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    if old == new:
        return
    root = tmp_path_factory.mktemp("git")
    (root / "f").write_bytes(old.encode())
    patch = "".join(_patch("f", old, new)).encode()
    done = subprocess.run(["git", "apply", "-"], input=patch, cwd=root, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (root / "f").read_bytes() == new.encode()
