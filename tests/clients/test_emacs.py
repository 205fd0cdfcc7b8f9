"""Eglot and lsp-mode, set up as docs/editors/emacs.md says, on the real daemon."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.emacs_install import NEEDS, found
from tests.clients.ground import DONE, EDIT, FIRST, REPOSITORY, SLOW, WRITE, Ground, ground, until
from tests.clients.player import Player, playing
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found()), pytest.mark.timeout(120)]

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
        for head in ("Where it is shown", client)
    ]
    shown = [re.search(r"```elisp\n(.*?)```", part, re.S) for part in parts]
    return "\n".join(one[1] for one in shown if one)


@contextmanager
def scene(
    where: Ground, client: str, name: str, configuration: str | None = None
) -> Iterator[Player]:
    """An Emacs plays a scene, with what the page says in its configuration."""
    file = where.root / "configuration.el"
    lines = snippet(client) if configuration is None else configuration
    file.write_text(f";;; -*- lexical-binding: t -*-\n{lines}", "utf-8")
    environment = where.environment(
        DRIVE_CLIENT=client,
        DRIVE_CONFIGURATION=str(file),
        DRIVE_PROGRAM=str(where.program),
        DRIVE_FOLDER=str(where.folder),
        DRIVE_SCENE=f"drive-{name}",
    )
    command = ["emacs", "--batch", "-l", str(Path(__file__).with_name("drive.el"))]
    with playing(command, where.folder, environment) as player:
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
    assert edited["shown"].startswith("It begins. It goes on.Done.")
    assert edited["text"] == "one\nTWO\nthree\nfour\n"
    assert edited["where"] == {"side": "right", "end": True, "cursor": "a.txt"}
    assert [question.startswith("Edit: a.txt") for question in edited["asked"]] == [True]
    assert undone["text"] == "one\ntwo\nthree\nfour\n"
    assert (where.folder / "a.txt").read_text() == FIRST
    assert where.said()[0] == "go"
    assert where.said()[1].startswith("Explain what this does.")
    assert where.said()[1].endswith("```\none\n```")
    assert "It explains." in emacs.told["transcript"]["text"]


def test_a_question_that_nobody_answers_ends_with_the_turn(tmp_path: Path, client: str) -> None:
    with ground(tmp_path, WRITE, DONE) as where, scene(where, client, "ignored") as emacs:
        emacs.ended()
    assert len(emacs.told["stopped"]["asked"]) == 1
    assert not (where.folder / "new.txt").exists()


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
