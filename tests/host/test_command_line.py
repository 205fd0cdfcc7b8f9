"""The command line in odd surroundings: one line, never a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("command", ["describe", "--help"])
def test_a_reader_may_leave(command: str, tmp_path: Path) -> None:
    shell = f"{sys.executable} -m singletree {command} | head -c 20; exit ${{PIPESTATUS[0]}}"
    done = run("bash", "-c", shell, cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["sessions", "chat </dev/null"])
def test_a_folder_that_was_deleted_is_named(command: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f"rmdir {gone} && {sys.executable} -m singletree {command}"
    done = run("bash", "-c", shell, cwd=gone)
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1
    assert "folder" in done.stderr


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    done = run(
        sys.executable, "-m", "singletree", "describe", "--out", f"{blocked}/x", cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr == f"singletree describe: cannot write {blocked}/x: Not a directory\n"


@pytest.mark.parametrize("command", ["serve", "attach", "chat", "stop", "sessions"])
def test_every_option_is_explained(command: str, tmp_path: Path) -> None:
    told = run(sys.executable, "-m", "singletree", command, "--help", cwd=tmp_path).stdout
    rows = re.split(r"\n  (?=\S)", told.partition("options:")[2])
    options = [row for row in rows if row.startswith("-")]
    assert len(options) > 1
    assert [row for row in options if not re.search(r"\S(  +|\n +)[a-z]", row)] == []
