"""The story in a real Neovim: say, stream, ask for leave, edit, undo, steer, stop, jump, sum up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.clients.nvim import Home, Neovim, neovim
from tests.clients.nvim_install import NEEDS, found
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found() is not None), pytest.mark.timeout(120)]

EDIT = {"call": "edit", "args": {"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]}}
SLOW = {"parts": [{"text": "It begins. "}, {"wait": 30}, {"text": "It ends."}]}

Start = Callable[..., Home]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A furnished home; its daemon ends with the test."""
    home = Home(tmp_path / "home")

    def furnished(*turns: object, arguments: tuple[str, ...] = ()) -> Home:
        home.arguments.extend(arguments)
        home.furnish(*turns)
        (home.folder / "a.txt").write_text("one\ntwo\nthree\n")
        return home

    yield furnished
    home.stop()


def text(editor: Neovim, name: str) -> list[str]:
    """The lines of a file's buffer."""
    lines = editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", name)
    assert isinstance(lines, list)
    return lines


def test_an_answer_streams_into_the_transcript(start: Start) -> None:
    words = "".join(f"word{n} " for n in range(60))
    home = start({"parts": [{"thinking": "Hm."}, {"text": words}], "chunk": 6, "pause": 0.01})
    with neovim(home, "a.txt") as editor:
        editor.say("hello")
        editor.sees("word3 ")
        assert "word59" not in editor.transcript()
        shown = editor.sees(words.strip())
        assert shown.startswith("hello\n")
        assert "▸ Thought: Hm." in shown
        editor.idle()
        assert editor.buffer("prompt") == ""


def test_a_dirty_open_file_is_edited_with_leave_in_one_step_of_undo(start: Start) -> None:
    with neovim(start(EDIT, {"text": "Done."}), "a.txt") as editor:
        editor.keys("Gofour<Esc>")
        editor.say("make it loud")
        editor.sees("? Edit: a.txt")
        assert text(editor, "a.txt") == ["one", "two", "three", "four"]
        editor.run("Singletree allow")
        editor.sees("Done.")
        assert text(editor, "a.txt") == ["one", "TWO", "three", "four"]
        editor.run("buffer a.txt")
        assert editor.lua("return vim.bo.modified")
        editor.keys("u")
        editor.until(
            "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 1, 2, false)[1] == 'two'"
        )
        assert text(editor, "a.txt") == ["one", "two", "three", "four"]
