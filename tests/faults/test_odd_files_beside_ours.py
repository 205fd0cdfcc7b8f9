"""What is not ours in our folders: a pipe, a file for a folder. Nothing hangs, nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.daemon.real import daemon, opened, place, prompt, settled
from tests.rpc.client import Failed

from singletree.history.store import Store
from singletree.session.partials import read_partial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_a_pipe_among_the_sessions_holds_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "agent" / "sessions" / "--w--"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "2026-12-03T00-00-00-000Z_01a2.jsonl")
    assert Store(tmp_path / "agent").list().sessions == ()
    assert Store(tmp_path / "agent").latest("/w") is None


def test_a_file_in_the_place_of_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "partials").write_text("not a folder")
    assert read_partial(tmp_path / "partials" / "x.json") is None
    assert (tmp_path / "partials").read_text() == "not a folder"


async def test_what_no_shell_and_no_address_takes_is_refused_in_a_line(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "x", "repeat": True}) as client:
        session_id = await opened(client, where)
        for command in ("a\0b", "echo \ud800"):
            with pytest.raises(Failed) as refused:
                await client.call("agent/bash", {"sessionId": session_id, "command": command})
            assert refused.value.data["code"] == "input_rejected"
        with pytest.raises(Failed) as refused:
            await client.call("agent/session/open", {"workspace": "file://[bad"})
        assert refused.value.data["code"] == "workspace_not_found"
        await prompt(client, session_id, "hi")
        await settled(client, session_id)
