"""pytest-lsp's client in a process of its own, on the real daemon."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.ground import (
    DONE,
    EDIT,
    FIRST,
    REPOSITORY,
    SLOW,
    WRITE,
    Ground,
    ground,
    until,
)
from tests.clients.player import Player, playing

pytestmark = [pytest.mark.client, pytest.mark.timeout(120)]


@contextmanager
def scene(where: Ground, name: str) -> Iterator[Player]:
    """The client plays a scene."""
    driver = [sys.executable, "-m", "tests.clients.drive_pytest_lsp"]
    environment = where.environment(PYTHONPATH=f"{REPOSITORY}:{REPOSITORY / 'daemon'}")
    command = [*driver, str(where.program), str(where.folder), name]
    with playing(command, where.folder, environment) as player:
        yield player


def test_an_open_dirty_buffer_is_edited_in_one_step_of_undo(tmp_path: Path) -> None:
    with ground(tmp_path, EDIT, DONE) as where, scene(where, "story") as player:
        player.ended()
    begun, edited, undone = (player.told[name] for name in ("begun", "edited", "undone"))
    assert "Done." not in begun["shown"]
    assert edited["shown"] == "It begins. It goes on.Done."
    assert (edited["text"], edited["asked"]) == ("one\nTWO\nthree\nfour\n", ["Edit: a.txt"])
    assert undone["text"] == "one\ntwo\nthree\nfour\n"
    assert (where.folder / "a.txt").read_text() == FIRST


def test_a_question_that_nobody_answers_and_a_request_that_is_cancelled(tmp_path: Path) -> None:
    with ground(tmp_path, WRITE, DONE) as where, scene(where, "ignored") as player:
        player.ended()
    stopped = player.told["stopped"]
    assert (stopped["aborted"], stopped["code"], len(stopped["asked"])) == (True, -32800, 1)
    assert not (where.folder / "new.txt").exists()


def test_a_client_that_is_killed_in_mid_turn(tmp_path: Path) -> None:
    with ground(tmp_path, SLOW) as where, scene(where, "streaming") as player:
        player.until("streaming")
        player.process.send_signal(signal.SIGKILL)
        until(where.has_ended, "the end of the daemon")
        answer = where.messages()[-1]
    assert answer["content"][0]["text"] == "It begins. "
    assert answer["stopReason"] == "aborted"
