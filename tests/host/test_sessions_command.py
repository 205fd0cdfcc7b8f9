"""`singletree sessions …`: lines for a screen, and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.export.sample import lines
from tests.history.made import header, said, write

from singletree.errors import SessionUnreadable, UnknownSession
from singletree.host.report import sessions


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An agent folder with three sessions, two of whose ids begin alike."""
    folder = tmp_path / "agent" / "sessions" / "--w--"
    write(folder / "a.jsonl", [{**lines()[0], "id": "abc-1"}, *lines()[1:]])
    write(folder / "b.jsonl", [header(id="abc-2"), said("a", None, "other")])
    write(folder / "c.jsonl", [header(id="abc"), said("a", None, "whole")])
    return {"PI_CODING_AGENT_DIR": str(tmp_path / "agent")}


def test_they_are_listed_and_found_by_words(environment: dict[str, str]) -> None:
    assert len(list(sessions(["--all"], environment))) == 3
    found = list(sessions(["--all", "red", "dot"], environment))
    assert len(found) == 1
    assert found[0].startswith("abc-1 ")


@pytest.mark.parametrize(
    "content", [b"", b"# Notes\nof mine\n", bytes(range(256)) * 99, b'{"id": "1", "log": "x"}\n']
)
def test_a_file_that_is_no_session_gives_none(
    environment: dict[str, str], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(SessionUnreadable) as refused:
        list(sessions(["--recover", str(path)], environment))
    assert str(path) in refused.value.message
    assert len(list(sessions(["--all"], environment))) == 3
    assert path.read_bytes() == content


def test_list_and_search_may_be_said(environment: dict[str, str]) -> None:
    assert len(list(sessions(["list", "--all"], environment))) == 3
    assert len(list(sessions(["search", "--all", "red"], environment))) == 1


def test_what_was_not_found_is_said_with_what_was_sought(environment: dict[str, str]) -> None:
    assert list(sessions(["--all", "no", "such"], environment)) == [
        "No session with 'no such' in it."
    ]
    assert list(sessions(["bogus"], environment)) == [
        f"No session of {Path.cwd()} with 'bogus' in it; --all looks in every folder."
    ]


def test_one_is_exported_by_the_beginning_of_its_id(
    environment: dict[str, str], tmp_path: Path
) -> None:
    told = list(sessions(["export", "abc-1", "--format", "md"], environment))
    assert told[0].strip() == "# Fix <add>"
    out = tmp_path / "out.html"
    assert list(sessions(["export", "abc-1", "--output", str(out)], environment)) == [str(out)]
    assert "A red dot." in out.read_text("utf-8")
    assert "whole" in "\n".join(sessions(["export", "abc", "--format", "md"], environment))


def test_the_xray_tells_every_part_and_their_sum(
    environment: dict[str, str], tmp_path: Path
) -> None:
    told = list(sessions(["xray", "abc-1", "--leaf", "a2"], environment))
    assert told[0] == "Session abc-1 at a2: p/m, thinking high"
    at = next(n for n, line in enumerate(told) if " in all" in line)
    figures = [int(line.split()[0].replace(",", "")) for line in told[2 : at + 1]]
    assert sum(figures[:-1]) == figures[-1]
    assert [line.split()[1] for line in told[2:at] if line.split()[1][0] in "uabr"] == [
        "u1", "a1", "u2", "b1", "r1",
    ]  # fmt: skip
    assert any("a2" in line and "[failed]" in line for line in told[at:])
    assert not list((tmp_path / "agent").glob("singletree/partials/*"))


def test_what_is_not_clear_is_said(environment: dict[str, str]) -> None:
    with pytest.raises(UnknownSession, match="2 sessions"):
        list(sessions(["export", "abc-"], environment))
    with pytest.raises(UnknownSession, match="no session"):
        list(sessions(["export", "none"], environment))
