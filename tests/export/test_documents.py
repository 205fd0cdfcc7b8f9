"""The texts that an editor shows of a session: bounded, the end of it first."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_core import to_json
from tests.export.sample import answer, sample
from tests.history.made import header, said, write

from singletree.export.documents import ROOM, ROWS, bounded, one, transcript, tree
from singletree.export.markdown import markdown
from singletree.history.record import History
from singletree.history.store import Store


@pytest.fixture
def history(tmp_path: Path) -> History:
    return sample(tmp_path)


def opened(root: Path, lines: list[dict[str, object]]) -> History:
    path = write(root / "sessions" / "made.jsonl", lines)
    return Store(root / "agent", path.parent).open(path, read_only=True)


def test_a_short_transcript_is_the_export(history: History) -> None:
    assert transcript(history) == "".join(f"{block}\n" for block in markdown(history))


def test_of_a_long_one_the_end_is_shown(tmp_path: Path) -> None:
    lines = [header(), said("e0", None, "the first words")]
    lines += [said(f"e{n}", f"e{n - 1}", f"{n} " + "é" * 1000) for n in range(1, 400)]
    text = transcript(opened(tmp_path, lines))
    assert len(text) < ROOM + 1000
    assert "the first words" not in text.partition("left out here")[2]
    assert "agent.export" in text
    assert text.rstrip().endswith("399 " + "é" * 1000)
    assert text.startswith("# ")


def test_one_entry_that_is_too_long_alone(tmp_path: Path) -> None:
    text = transcript(opened(tmp_path, [header(), said("a", None, "x" * 3 * ROOM)]))
    assert "xxxx" in text
    assert "more characters are left out here" in text
    assert len(text) < 2 * ROOM


def test_an_empty_session(tmp_path: Path) -> None:
    history = opened(tmp_path, [header()])
    assert transcript(history).startswith("# ")
    assert tree(history).count("\n") == 4


def test_the_tree(history: History) -> None:
    lines = tree(history).splitlines()
    assert lines[0] == "Fix <add>"
    rows = {line[2:].split()[0]: line for line in lines[4:]}
    assert rows["u1"].startswith("* u1  user: Fix add() <script>alert('owned')</script>")
    assert rows["u1"].endswith(" [begin <here>]")
    assert rows["u2"].startswith("  u2")
    assert rows["a5"].startswith("> a5")
    assert "assistant: A red dot. [end]" in rows["a5"]


def test_of_a_large_tree_what_is_around_the_leaf_is_shown(tmp_path: Path) -> None:
    lines = [header(), said("e0", None, "first")]
    lines += [answer(f"e{n}", f"e{n - 1}", "y" * 500) for n in range(1, 3 * ROWS)]
    text = tree(opened(tmp_path, lines))
    assert len(text) < ROOM
    assert "rows above are left out" in text
    assert text.splitlines()[-1].startswith("> e2999")


def test_a_tree_that_is_as_deep_as_it_likes(tmp_path: Path) -> None:
    lines = [header(), said("e0", None, "first")]
    for n in range(1, 1500):
        lines.append(said(f"e{n}", f"e{n - 1}", "on"))
        lines.append(said(f"s{n}", f"e{n - 1}", "aside"))
    assert len(tree(opened(tmp_path, lines))) < ROOM


def test_one_entry(history: History) -> None:
    assert one(history.entry("u1"), history).startswith("*Label: begin <here>*\n\n## You\n")
    assert "Call of `edit`:" in one(history.entry("e1"), history)
    assert one(history.entry("l1"), history) == ""


def test_what_is_bounded_fits_a_message_whatever_it_holds() -> None:
    assert bounded("x" * ROOM) == "x" * ROOM
    assert len(to_json(bounded("\x01" * 9_000_000))) < 1 << 20
