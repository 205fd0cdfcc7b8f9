"""What an editor's bridge passes on to the daemon it starts: files by their whole path."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.rpc.doors.start import options_of, parser, passed_on


def test_all_options_arrive_and_files_by_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.md").write_text("Be brief.")
    (tmp_path / "read").write_text("a file that is named like a tool")
    words = (
        *("--model", "scripted:turns.jsonl", "--tools", "read", "--system-prompt", "own.md"),
        *("--append-system-prompt", "Say please.", "--append-system-prompt", "own.md"),
        *("--mode", "readOnly", "--no-trust", "--idle", "7"),
    )
    given = parser("singletree attach").parse_args(words)
    again = parser("singletree serve").parse_args(passed_on(given))
    assert again.idle == 7
    monkeypatch.chdir("/")
    options = options_of(again, {})
    assert options.model == f"scripted:{tmp_path}/turns.jsonl"
    assert options.tools == ("read",)
    assert options.system_prompt == f"{tmp_path}/own.md"
    assert options.append_system_prompt == ("Say please.", f"{tmp_path}/own.md")
    assert (options.mode, options.trust) == ("readOnly", False)


def test_nothing_said_is_nothing_passed_on() -> None:
    assert passed_on(parser("singletree attach").parse_args([])) == []


@pytest.mark.parametrize("prompt", ["", "x" * 5000, "a\0b", "no such file"])
def test_a_prompt_that_is_no_file_stays_as_it_is(prompt: str) -> None:
    given = parser("singletree attach").parse_args([f"--system-prompt={prompt}"])
    assert options_of(given, {}).system_prompt == prompt


def test_an_empty_choice_of_tools_is_one() -> None:
    given = parser("singletree attach").parse_args(["--tools="])
    assert options_of(parser("singletree serve").parse_args(passed_on(given)), {}).tools == ()
