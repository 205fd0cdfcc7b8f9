"""Markdown to read, JSON lines to open again; and where they go."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from tests.export.sample import PICTURE, sample
from tests.history.made import header, said, write

from singletree.context.projection import project
from singletree.errors import SessionError
from singletree.export.lines import json_lines
from singletree.export.markdown import fenced, markdown
from singletree.history.record import History
from singletree.history.store import Store
from singletree.host import exports


@pytest.fixture
def history(tmp_path: Path) -> History:
    return sample(tmp_path)


def test_markdown_tells_the_active_branch(history: History) -> None:
    text = "\n".join(markdown(history))
    heads = re.findall(r"^##? (.*)$", text, re.M)
    assert heads == ["Fix <add>", "You", "m", "You", "m", "m", "You",
                     "Compaction (at 12345 tokens)", "m"]  # fmt: skip
    assert "*Label: begin <here>*" in text
    assert "I run it." not in text
    assert PICTURE not in text
    assert "*[a picture, image/png, 72 bytes]*" in text


def test_a_fence_that_nothing_inside_closes() -> None:
    assert fenced("```\nx\n`````") == "``````\n```\nx\n`````\n``````\n"


def test_json_lines_open_as_the_same_conversation(history: History, tmp_path: Path) -> None:
    made = list(json_lines(history))
    path = tmp_path / "out" / "again.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join(made) + "\n", "utf-8")
    again = Store(tmp_path / "agent2", path.parent).open(path)
    assert again.damage == ()
    assert again.id == history.id
    assert again.name == "Fix <add>"
    assert again.labels == {"u1": "begin <here>", "a5": "end"}
    assert project(again.path()) == project(history.path())
    ids = [json.loads(line)["id"] for line in made[1:]]
    parents = [json.loads(line)["parentId"] for line in made[1:]]
    assert parents == [None, *ids[:-1]]
    again.close()


def test_a_name_given_on_another_branch_comes_along(tmp_path: Path) -> None:
    made = [
        header(),
        said("a", None, "one"),
        {"type": "session_info", "id": "n", "parentId": "a", "timestamp": "", "name": "mine"},
        said("b", "a", "two"),
    ]
    path = write(tmp_path / "sessions" / "s.jsonl", made)
    history = Store(tmp_path / "agent", path.parent).open(path, read_only=True)
    told = [json.loads(line) for line in json_lines(history)]
    assert [one["type"] for one in told] == ["session", "message", "message", "session_info"]
    assert told[-1]["name"] == "mine"
    assert told[-1]["parentId"] == "b"
    history.close()


def test_a_file_that_is_there_stays(history: History, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    made = exports.save(history, "html", str(target))
    assert made == target
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text("utf-8").startswith("<!doctype html>")
    target.write_text("precious")
    with pytest.raises(SessionError, match="already"):
        exports.save(history, "html", str(target))
    assert target.read_text() == "precious"
    exports.save(history, "md", str(target), replace=True)
    assert target.read_text("utf-8").startswith("# Fix <add>")
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".part")] == []


def test_no_session_is_replaced_by_what_was_made_of_it(history: History, tmp_path: Path) -> None:
    content = history.file.read_bytes()
    (tmp_path / "link").symlink_to(history.file.parent)
    for target in (history.file, tmp_path / "link" / history.file.name):
        with pytest.raises(SessionError, match="never replaced"):
            exports.save(history, "jsonl", str(target), replace=True)
    assert history.file.read_bytes() == content
    made = exports.save(history, "jsonl", str(history.file.with_name("a copy.jsonl")))
    assert made.is_file()


def test_where_it_cannot_be_written_it_says_why(history: History, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="No such file or directory"):
        exports.save(history, "md", str(tmp_path / "none" / "x.md"))


def test_what_fits_no_message_needs_a_file(history: History) -> None:
    whole = exports.text(history, "md", 100_000)
    assert exports.text(history, "md", len(whole)) == whole
    with pytest.raises(SessionError) as caught:
        exports.text(history, "md", len(whole) - 1)
    assert caught.value.code == "unsupported"
