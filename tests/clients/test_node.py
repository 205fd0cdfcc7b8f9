"""Microsoft's language client for Node, which VS Code is made with, on the real daemon."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.ground import DONE, EDIT, FIRST, REPOSITORY, SLOW, WRITE, Ground, ground, until
from tests.clients.node_install import NEEDS, folder, found
from tests.clients.player import Player, playing
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found()), pytest.mark.timeout(120)]


@contextmanager
def scene(where: Ground, name: str) -> Iterator[Player]:
    """The client plays a scene."""
    node, driver = shutil.which("node") or "node", Path(__file__).with_name("drive.cjs")
    command = [node, str(driver), str(where.program), str(where.folder), name]
    environment = where.environment(NODE_PATH=str(folder() / "node_modules"))
    with playing(command, where.folder, environment) as player:
        yield player


def test_an_open_dirty_buffer_is_edited_in_one_step_of_undo(tmp_path: Path) -> None:
    with ground(tmp_path, EDIT, DONE) as where, scene(where, "story") as player:
        player.ended()
    begun, edited, undone = (player.told[name] for name in ("begun", "edited", "undone"))
    assert "Done." not in begun["shown"]
    assert edited["shown"] == "It begins. It goes on.Done."
    assert edited["text"] == "one\nTWO\nthree\nfour\n"
    assert edited["asked"] == ["Edit: a.txt"]
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


def test_without_a_word_of_agents(tmp_path: Path) -> None:
    with ground(tmp_path, WRITE, DONE, SLOW) as where, scene(where, "plain") as player:
        player.ended()
    told = player.told["told"]
    (asked,) = told["asked"]
    assert "new.txt" in asked
    assert told["messages"] == ["Done.\n(All of it: agent.transcript)"]
    assert (told["kinds"][0], told["kinds"][-1]) == ("begin", "end")
    assert told["document"]["uri"].startswith("agent://")
    assert told["document"]["takeFocus"] is False
    assert "## You" not in told["before"] and "## You\n\nwrite" in told["after"]
    assert player.told["cancelled"]["messages"] == []
    assert (where.folder / "new.txt").read_text() == "new\n"


def test_the_client_of_the_page(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "editors" / "any.md").read_text("utf-8")
    shown = re.search(r"```js\n(.*?)```", page, re.S)
    assert shown is not None
    with ground(tmp_path, {"text": "It was read.\n"}) as where:
        script = tmp_path / "client.js"
        script.write_text(shown[1].replace('["attach"]', '["serve", "--stdio"]'), "utf-8")
        modules = str(folder() / "node_modules")
        programs = f"{where.program.parent}:{os.environ['PATH']}"
        environment = where.environment(NODE_PATH=modules, PATH=programs)
        node = shutil.which("node") or "node"
        with playing([node, str(script)], where.folder, environment) as player:
            assert player.process.stdout is not None
            assert player.process.stdout.readline() == "It was read.\n"
    assert where.said() == ["read README.md"]
