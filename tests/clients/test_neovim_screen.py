"""Neovim as a person sees it, in a terminal, on light and on dark ground.

The screens are kept as pages in .cache/screens/, to be looked at.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clients.nvim import REPOSITORY, Home
from tests.clients.nvim_install import NEEDS, found
from tests.clients.screen import screen, there
from tests.conftest import needs

pytestmark = [
    pytest.mark.client,
    pytest.mark.timeout(120),
    needs(NEEDS, found() is not None),
    needs("tmux", there()),
]

GROUNDS = {"light": ("#e0e2ea", "#14161b"), "dark": ("#14161b", "#e0e2ea")}
ANSWER = "It is read **twice**:\n\n- in `load`\n\n```lua\nlocal once = true\n```\n\nShall I?"
TURNS = (
    {"thinking": "I look first.", "call": "read", "args": {"path": "a.txt"}},
    {"text": ANSWER},
    {
        "call": "edit",
        "args": {"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]},
    },
    {"parts": [{"text": "Changed; and now"}, {"wait": 60}]},
)


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_story_on_the_screen(tmp_path: Path, ground: str) -> None:
    home = Home(tmp_path / "home")
    home.furnish(*TURNS)
    (home.folder / "a.txt").write_text("one\ntwo\nthree\n")
    program = (str(found()), "-c", f"set background={ground}", "a.txt")
    paper, ink = GROUNDS[ground]
    try:
        with screen(tmp_path, home.folder, home.environment(), *program) as terminal:

            def keep(name: str) -> str:
                page = REPOSITORY / ".cache" / "screens" / f"neovim-{name}-{ground}.html"
                return terminal.keep(page, paper, ink)

            terminal.sees("a.txt")
            terminal.keys(":Singletree", "Enter")
            terminal.sees("Ask something.")
            terminal.keys("iWhy is it read twice?", "C-s")
            terminal.sees("Shall I?")
            terminal.sees("- in load")  # its marks are hidden
            shown = keep("answer")
            assert "✓" in shown and "**" not in shown
            terminal.keys("Yes.", "C-s")
            terminal.sees("? Edit: a.txt")
            keep("question")
            terminal.keys("Escape", ":Singletree allow", "Enter")
            terminal.sees("and now")
            terminal.keys("iThe tests, too", "C-s", "a draft")
            terminal.sees("steers: The tests, too")
            terminal.keys("Escape", "C-w", "k", "gg/edit a", "Enter", "Enter")
            terminal.sees("+2 TWO")
            keep("opened")
            terminal.keys("C-c")
            terminal.sees("│The tests, too")
            terminal.keys(":Singletree tree", "Enter")
            terminal.sees("● agent: Changed; and now")
            keep("tree")
            terminal.keys("gg", "Enter")
            terminal.sees("Go on from here, with a summary")
            terminal.keys("1", "Enter")
            terminal.sees("│Why is it read twice?")
            keep("back")
    finally:
        home.stop()
