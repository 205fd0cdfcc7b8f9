"""Paths that others wrote: whatever they are, looking at them is no fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from singletree.pathtext import at_home, home, is_file, is_folder, is_there, read_plain

ODD = [
    "x" * 300,
    "/" + "/".join(["y" * 200] * 40),
    "~nobody-has-this-name/x",
    "~500 words, please",
    "a\0b",
    "\ud83d",
    "",
]


@pytest.mark.parametrize("text", ODD)
def test_an_odd_path_is_not_there(text: str, tmp_path: Path) -> None:
    path = tmp_path / "z" / at_home(text)
    assert (is_file(path), is_folder(path), is_there(path)) == (False, False, False)


def test_a_circle_of_links_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    assert not is_there(tmp_path / "a")


def test_home_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert at_home("~") == tmp_path
    assert at_home("~/x y") == tmp_path / "x y"
    assert at_home("/a/~") == Path("/a/~")
    assert at_home("~500 words") == Path("~500 words")


def test_a_name_that_is_no_utf_8_stays(tmp_path: Path) -> None:
    named = tmp_path / "caf\udce9"
    named.write_text("")
    assert is_file(at_home(str(named)))


def test_a_plain_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"12345")
    assert read_plain(plain, 5) == b"12345"
    with pytest.raises(OSError, match="too large"):
        read_plain(plain, 4)
    os.truncate(plain, 1 << 40)
    with pytest.raises(OSError, match="too large"):
        read_plain(plain)


def test_a_file_that_does_not_say_its_size_is_read_too() -> None:
    assert read_plain("/proc/self/stat").startswith(b"%d (" % os.getpid())
    with pytest.raises(OSError, match="too large"):
        read_plain("/proc/self/stat", 10)


@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device", "folder", "nothing"])
def test_only_plain_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "odd"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path = Path("/dev/zero")
        case "link to a device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
    with pytest.raises(OSError):
        read_plain(path)


@pytest.mark.parametrize(("named", "found"), [("/a", "/a"), ("", "/"), ("here", "/"), ("~", "/")])
def test_a_home_is_always_a_whole_path(
    monkeypatch: pytest.MonkeyPatch, named: str, found: str
) -> None:
    monkeypatch.setenv("HOME", named)
    assert str(home()) == found
