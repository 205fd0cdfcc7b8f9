"""Paths that others wrote: whatever they are, looking at them is no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.pathtext import at_home, is_file, is_folder, is_there

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
