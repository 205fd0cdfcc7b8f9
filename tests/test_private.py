"""Files that are put in place whole, and folders for one person's eyes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from singletree.private import make_private, put_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_there_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    path.write_text("old")
    with put_whole(path) as out:
        out.write(b"new")
        assert path.read_text() == "old"
    assert (path.read_text(), mode(path)) == ("new", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(ValueError, match="odd"), put_whole(path) as out:
        out.write(b"new")
        raise ValueError("odd")
    assert path.read_text() == "old"
    with pytest.raises(OSError), put_whole(tmp_path / "none" / "f"):
        raise AssertionError("there is no such folder")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_in_the_place_of_what_is_being_made_is_not_followed(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "f"
    other.write_text("precious")
    with put_whole(path):
        (part,) = (one for one in tmp_path.iterdir() if one != other)
    part.symlink_to(other)
    with put_whole(path) as out:
        out.write(b"new")
    assert (other.read_text(), path.read_text()) == ("precious", "new")


def test_folders_that_are_made_are_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(tmp_path / "a" / "b")
    assert [mode(p) for p in (tmp_path, tmp_path / "a", tmp_path / "a/b")] == [0o755, 0o700, 0o700]
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        make_private(tmp_path / "file" / "below")
