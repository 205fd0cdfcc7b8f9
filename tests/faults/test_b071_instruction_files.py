"""Instruction files are told once each, with their path; a bad one is a warning, never an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.context.gather import Gathered, gather
from singletree.context.prompt import build_system_prompt


def told(root: Path, found: Gathered) -> list[str]:
    files = [Path(file.path) for file in found.parts.context_files]
    return [path.relative_to(root).as_posix() for path in files if path.is_relative_to(root)]


def gathered(root: Path) -> Gathered:
    return gather(root / "w/sub", root / "agent", trusted=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w/sub").mkdir(parents=True)
    (tmp_path / "w/AGENTS.md").write_text("R")
    (tmp_path / "w/CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "w/sub/AGENTS.md").write_text("S")
    return tmp_path


def test_each_once_in_order_and_the_next_prompt_sees_a_change(root: Path) -> None:
    assert told(root, gathered(root)) == ["w/AGENTS.md", "w/sub/AGENTS.md"]
    (root / "w/sub/AGENTS.md").write_text("T")
    text = build_system_prompt(gathered(root).parts, [])
    assert text.count("\nR\n") == 1
    assert text.count("\nT\n") == 1
    assert "\nS\n" not in text


def test_a_folder_a_huge_file_and_latin_1(root: Path) -> None:
    (root / "AGENTS.md").mkdir()
    (root / "w/AGENTS.md").write_bytes(b"x" * 5_000_000)
    (root / "w/sub/AGENTS.md").write_bytes("für".encode("latin-1"))
    found = gathered(root)
    assert told(root, found) == ["w/AGENTS.md", "w/sub/AGENTS.md"]
    assert [w.code for w in found.warnings] == ["not_a_file", "too_large", "not_utf8"]
    text = build_system_prompt(found.parts, [])
    assert len(text) < 100_000
    assert "Cut here: the file has 5000000 bytes" in text
    assert "für" in text


def test_a_file_nobody_may_read(root: Path) -> None:
    def read(path: Path) -> bytes:
        if path.resolve() == root / "w/AGENTS.md":
            raise PermissionError(13, "Permission denied")
        return path.read_bytes()

    found = gather(root / "w/sub", root / "agent", trusted=False, read=read)
    assert told(root, found) == ["w/sub/AGENTS.md"]
    assert [w.code for w in found.warnings] == ["unreadable", "unreadable"]
