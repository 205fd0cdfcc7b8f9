"""Lines of ignore files: what they mean, and that none is slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.gitignore import ignored, rules_in


def says(folder: Path, text: str, path: str, *, is_folder: bool = False) -> bool | None:
    (folder / ".gitignore").write_text(text)
    return ignored(rules_in(folder / ".gitignore"), path, folder=is_folder)


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ("a", "a", True),
        ("a", "b/a", True),
        ("/a", "b/a", None),
        ("b/a", "b/a", True),
        ("a/", "a", None),
        ("a\n!a", "a", False),
        ("# a", "# a", None),
        ("\\# a", "# a", True),
        ("a \t ", "a", True),
        ("a\\  ", "a ", True),
        ("a\r\nb", "a", True),
        ("\ufeffa", "a", True),
        ("!", "a", None),
        ("[z-a]\na", "a", True),
    ],
)
def test_a_line_means(tmp_path: Path, text: str, path: str, said: bool | None) -> None:
    assert says(tmp_path, text, path) is said


def test_a_line_for_folders(tmp_path: Path) -> None:
    assert says(tmp_path, "a/", "b/a", is_folder=True) is True


def test_what_cannot_be_read_means_nothing(tmp_path: Path) -> None:
    assert rules_in(tmp_path / "none") == rules_in(tmp_path) == ()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("line", [" " * 500_000 + "x", "*a" * 5000 + "b", "a" + "\t " * 200_000])
def test_no_line_is_slow(tmp_path: Path, line: str) -> None:
    assert says(tmp_path, line, "a" * 250) is None
