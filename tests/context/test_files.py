"""AGENTS.md and CLAUDE.md, general to particular."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from singletree.context.files import MAX_BYTES, ContextFiles, find_context_files


def lay(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def told(found: ContextFiles, root: Path) -> list[str]:
    """`path: content` of the files below the root."""
    rows = [(Path(file.path), file.content) for file in found.files]
    return [f"{p.relative_to(root)}: {text}" for p, text in rows if p.is_relative_to(root)]


def codes(found: ContextFiles) -> list[str]:
    return [warning.code for warning in found.warnings]


def test_general_to_particular_and_one_of_each_folder(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "agent/AGENTS.md": "A",
            "AGENTS.md": "R",
            "w/CLAUDE.md": "C",
            "w/AGENTS.md": "W",
            "w/sub/AGENTS.override.md": "O",
            "w/sub/AGENTS.md": "S",
        },
    )
    found = find_context_files(tmp_path / "w/sub", tmp_path / "agent")
    assert told(found, tmp_path) == [
        "agent/AGENTS.md: A",
        "AGENTS.md: R",
        "w/AGENTS.md: W",
        "w/sub/AGENTS.override.md: O",
    ]
    assert found.warnings == ()


def test_an_agent_folder_above_the_workspace_counts_once(tmp_path: Path) -> None:
    lay(tmp_path, {"AGENTS.md": "A", "w/AGENTS.md": "W"})
    found = find_context_files(tmp_path / "w", tmp_path)
    assert told(found, tmp_path) == ["AGENTS.md: A", "w/AGENTS.md: W"]


def test_a_link_to_a_file_already_there_counts_once(tmp_path: Path) -> None:
    lay(tmp_path, {"w/AGENTS.md": "R", "w/sub/k": ""})
    (tmp_path / "w/CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "w/sub/AGENTS.md").symlink_to("../AGENTS.md")
    found = find_context_files(tmp_path / "w/sub", tmp_path / "agent")
    assert told(found, tmp_path) == ["w/AGENTS.md: R"]


def test_a_folder_of_that_name_is_told_and_the_next_name_taken(tmp_path: Path) -> None:
    lay(tmp_path, {"AGENTS.md/k": "", "CLAUDE.md": "C"})
    found = find_context_files(tmp_path, tmp_path / "agent")
    assert told(found, tmp_path) == ["CLAUDE.md: C"]
    assert codes(found) == ["not_a_file"]


def test_an_unreadable_file_is_told_and_nothing_else_is_lost(tmp_path: Path) -> None:
    lay(tmp_path, {"AGENTS.md": "A", "w/AGENTS.md": "W"})

    def read(path: Path) -> bytes:
        if path == tmp_path / "AGENTS.md":
            raise PermissionError(13, "Permission denied")
        return path.read_bytes()

    found = find_context_files(tmp_path / "w", tmp_path / "agent", read)
    assert told(found, tmp_path) == ["w/AGENTS.md: W"]
    assert codes(found) == ["unreadable"]
    assert "Permission denied" in found.warnings[0].message


@pytest.mark.parametrize(("filler", "width"), [("x", 1), ("é", 2), ("数", 3), ("🙂", 4)])
def test_a_huge_file_is_cut_with_a_note(tmp_path: Path, filler: str, width: int) -> None:
    lay(tmp_path, {"AGENTS.md": "a" + filler * (5_000_000 // width)})
    found = find_context_files(tmp_path, tmp_path / "agent")
    content, _, note = found.files[-1].content.partition("\n\n[Cut here")
    assert set(content) == {"a", filler}
    assert MAX_BYTES - 4 < len(content.encode()) <= MAX_BYTES
    assert f"only the first {len(content.encode())} are shown" in note
    assert codes(found) == ["too_large"]


def test_other_encodings_are_read_and_told(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "AGENTS.md": "caf\xe9".encode("latin-1"),
            "a/AGENTS.md": "\ufeffplain",
            "a/b/AGENTS.md": "wide é".encode("utf-16"),
        },
    )
    found = find_context_files(tmp_path / "a/b", tmp_path / "agent")
    assert [file.content for file in found.files[-3:]] == ["café", "plain", "wide é"]
    assert codes(found) == ["not_utf8", "not_utf8"]


def test_an_unsaved_buffer_counts_even_without_a_file(tmp_path: Path) -> None:
    lay(tmp_path, {"AGENTS.md": "old", "w/k": ""})
    buffers = {tmp_path / "AGENTS.md": b"new", tmp_path / "w/AGENTS.md": b"draft"}

    def read(path: Path) -> bytes:
        return buffers[path] if path in buffers else path.read_bytes()

    found = find_context_files(tmp_path / "w", tmp_path / "agent", read)
    assert told(found, tmp_path) == ["AGENTS.md: new", "w/AGENTS.md: draft"]


def test_a_change_on_disk_is_seen_the_next_time(tmp_path: Path) -> None:
    lay(tmp_path, {"AGENTS.md": "one"})
    assert told(find_context_files(tmp_path, tmp_path / "agent"), tmp_path) == ["AGENTS.md: one"]
    lay(tmp_path, {"AGENTS.md": "two"})
    assert told(find_context_files(tmp_path, tmp_path / "agent"), tmp_path) == ["AGENTS.md: two"]


def test_a_worktree_in_its_own_checkout_does_not_say_everything_twice(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "main/.git/worktrees/feat/k": "",
            "main/AGENTS.md": "M",
            "main/wt/AGENTS.md": "T",
            "main/wt/feat/.git": f"gitdir: {tmp_path}/main/.git/worktrees/feat\n",
            "main/wt/feat/AGENTS.md": "F",
        },
    )
    found = find_context_files(tmp_path / "main/wt/feat", tmp_path / "agent")
    assert told(found, tmp_path) == ["main/wt/AGENTS.md: T", "main/wt/feat/AGENTS.md: F"]
    (tmp_path / "main/wt/feat/AGENTS.md").unlink()
    found = find_context_files(tmp_path / "main/wt/feat", tmp_path / "agent")
    assert told(found, tmp_path) == ["main/AGENTS.md: M", "main/wt/AGENTS.md: T"]
