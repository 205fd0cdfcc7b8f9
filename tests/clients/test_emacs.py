"""Eglot and lsp-mode, set up as docs/editors/emacs.md says, on the real daemon."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients import talking
from tests.clients.emacs_install import NEEDS, found
from tests.clients.ground import DONE, EDIT, FIRST, REPOSITORY, SLOW, WRITE, Ground, ground, until
from tests.clients.player import Player, playing
from tests.clients.screen import screen, there
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found()), pytest.mark.timeout(120)]

DRIVE = ("-l", str(Path(__file__).with_name("drive.el")))
PLAIN = {
    "eglot": """
(defvar singletree-command nil)
(add-to-list 'eglot-server-programs (cons 'text-mode (lambda (&rest _) singletree-command)))
""",
    "lsp-mode": """
(defvar singletree-command nil)
(lsp-register-client
 (make-lsp-client :server-id 'singletree :activation-fn (lambda (&rest _) t)
                  :new-connection (lsp-stdio-connection (lambda () singletree-command))))
""",
}


def snippet(client: str) -> str:
    """What the page tells a person to put into an init file."""
    page = (REPOSITORY / "docs" / "editors" / "emacs.md").read_text("utf-8")
    parts = [
        re.split(rf"^## {head}$", page, flags=re.M | re.I)[1]
        for head in ("Where it is shown", "For both", client)
    ]
    shown = [re.search(r"```elisp\n(.*?)```", part, re.S) for part in parts]
    return "\n".join(one[1] for one in shown if one)


def environment(
    where: Ground, client: str, name: str, configuration: str | None = None
) -> dict[str, str]:
    """A scene in it, with what the page says in the configuration: without lexical binding."""
    file = where.root / "configuration.el"
    file.write_text(snippet(client) if configuration is None else configuration, "utf-8")
    return where.environment(
        DRIVE_CLIENT=client,
        DRIVE_CONFIGURATION=str(file),
        DRIVE_PROGRAM=str(where.program),
        DRIVE_FOLDER=str(where.folder),
        DRIVE_SCENE=f"drive-{name}",
    )


@contextmanager
def scene(
    where: Ground, client: str, name: str, configuration: str | None = None
) -> Iterator[Player]:
    """An Emacs plays a scene."""
    played = environment(where, client, name, configuration)
    with playing(["emacs", "--batch", *DRIVE], where.folder, played) as player:
        yield player


@pytest.fixture(params=["eglot", "lsp-mode"])
def client(request: pytest.FixtureRequest) -> str:
    """Both do the same."""
    return str(request.param)


def test_an_open_dirty_buffer_is_edited_in_one_step_of_undo(tmp_path: Path, client: str) -> None:
    with (
        ground(tmp_path, EDIT, DONE, {"text": "It explains."}) as where,
        scene(where, client, "story") as emacs,
    ):
        emacs.ended()
    begun, edited, undone = (emacs.told[name] for name in ("begun", "edited", "undone"))
    assert "Done." not in begun["shown"]
    assert edited["shown"] == ("\n> go\n\nIt begins. It goes on.\n[edit a.txt]\nDone.\n[done]\n")
    assert edited["text"] == "one\nTWO\nthree\nfour\n"
    assert edited["where"] == {"side": "right", "end": True, "cursor": "a.txt"}
    assert [question.startswith("Edit: a.txt") for question in edited["asked"]] == [True]
    assert undone["text"] == "one\ntwo\nthree\nfour\n"
    assert (where.folder / "a.txt").read_text() == FIRST
    assert where.said()[0] == "go"
    assert where.said()[1].startswith("Explain what this does.")
    assert where.said()[1].endswith("```\none\n```")
    assert "It explains." in emacs.told["transcript"]["text"]


def test_what_is_said_too_early_is_kept(tmp_path: Path, client: str) -> None:
    with ground(tmp_path, DONE) as where, scene(where, client, "early") as emacs:
        emacs.ended()
    assert where.said() == ["too early, and more"]
    assert emacs.told["said"] == {
        "what": "said",
        "shown": "\n> too early, and more\n\nDone.\n[done]\n",
        "draft": None,
    }


def test_a_question_that_nobody_answers_ends_with_the_turn(tmp_path: Path, client: str) -> None:
    with ground(tmp_path, WRITE, DONE) as where, scene(where, client, "ignored") as emacs:
        emacs.ended()
    assert len(emacs.told["stopped"]["asked"]) == 1
    assert not (where.folder / "new.txt").exists()


@pytest.mark.parametrize("size", [1, 7, 60, 100_000])
def test_questions_while_the_agent_talks_on(tmp_path: Path, client: str, size: int) -> None:
    where = Ground(tmp_path)
    where.furnish()
    where.program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{talking.__file__}" {size}\n')
    with scene(where, client, "talked-over") as emacs:
        emacs.ended()
    asked, shown = emacs.told["heard"]["asked"], emacs.told["heard"]["shown"]
    assert asked == [
        "Taken back — allow? A test. TAB lists the answers: ",
        "Kept — allow? A test. TAB lists the answers: ",
        "Choose ",
    ]
    said = "".join(talking.WORDS) + talking.END
    assert shown.startswith(said)
    assert json.loads(shown.removeprefix(said).removesuffix("\n[done]\n")) == {
        "d1": {"outcome": "cancelled"},
        "d2": {"outcome": "selected", "optionId": "yes"},
        "d3": {"title": "Yes"},
    }


@needs("tmux", there())
def test_questions_at_the_keyboard(tmp_path: Path, client: str) -> None:
    """They come while something else is typed: a no, a yes, and one that is taken back."""
    names = ("no.txt", "yes.txt", "back.txt")
    turns = [{"call": "write", "args": {"path": name, "content": "new\n"}} for name in names]
    with ground(tmp_path, *turns) as where:
        played = {**environment(where, client, "by-hand"), "TERM": "tmux-256color"}
        with screen(tmp_path, where.folder, played, "emacs", "-nw", "-q", *DRIVE) as terminal:
            terminal.sees({"eglot": "[eglot:", "lsp-mode": "LSP["}[client])
            terminal.keys("M-x")
            terminal.sees("Write: no.txt")
            terminal.keys("M-x")
            terminal.sees("M-x")
            terminal.keys("C-g")
            terminal.sees("Write: no.txt")
            terminal.keys("C-g")
            terminal.sees("Write: yes.txt")
            terminal.keys("Allow once", "Enter")
            terminal.sees("Write: back.txt")
            terminal.keys("C-x", "o", "M-x", "singletree-stop", "Enter")
            terminal.sees("[stopped]")
            until(lambda: "Write: back.txt" not in terminal.text(), "the end of the question")
    assert [name for name in names if (where.folder / name).exists()] == ["yes.txt"]


def test_an_editor_that_is_killed_in_mid_turn(tmp_path: Path, client: str) -> None:
    with ground(tmp_path, SLOW) as where, scene(where, client, "streaming") as emacs:
        emacs.until("streaming")
        emacs.process.send_signal(signal.SIGKILL)
        until(where.has_ended, "the end of the daemon")
        answer = where.messages()[-1]
    assert answer["content"][0]["text"] == "It begins. "
    assert answer["stopReason"] == "aborted"


def test_without_a_word_of_agents_in_the_configuration(tmp_path: Path, client: str) -> None:
    with (
        ground(tmp_path, WRITE, DONE) as where,
        scene(where, client, "plain", PLAIN[client]) as emacs,
    ):
        emacs.ended()
    (asked,) = emacs.told["told"]["asked"]
    assert "new.txt" in asked
    assert (where.folder / "new.txt").read_text() == "new\n"
