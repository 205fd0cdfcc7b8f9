"""What is not ours in our folders: a pipe, a file for a folder. Nothing hangs, nothing is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.daemon.real import Place, daemon, events, opened, place, prompt, settled
from tests.rpc.client import Failed, RawClient

from singletree.history.store import Store
from singletree.session.turn.partials import read_partial

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


@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
@pytest.mark.parametrize(
    "name",
    [
        "work/.pi/settings.json",
        "work/.pi/skills/.gitignore",
        "work/AGENTS.md",
        "agent/settings.json",
        "agent/auth.json",
        "agent/singletree/permissions.json",
    ],
)
async def test_a_file_without_an_end_holds_nobody(tmp_path: Path, name: str, target: str) -> None:
    where = place(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if target == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    call = {"call": "bash", "args": {"command": "echo a"}}
    async with daemon(where, call, {"text": "x"}, arguments=["--trust"]) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "hi")
        assert (await settled(client, session_id, 60))["lastTurn"]["reason"] == "end_turn"


CALLS = [
    {"tool": "write", "args": {"path": "new.txt", "content": "new"}},
    {"tool": "edit", "args": {"path": "a.txt", "edits": [{"oldText": "old", "newText": "new"}]}},
    {"tool": "bash", "args": {"command": "seq 30000"}},
]
SLOW = {"text": "word ", "times": 12, "chunk": 5, "pause": 0.1}
TURN = [{"calls": CALLS}, SLOW]
MADE = ["Created new.txt: 1 line, 3B.", "Edited a.txt: 1 block replaced (line 1)."]
"""What write and edit say when they did it."""


def occupied(where: Place, name: str) -> Path:
    """A file of somebody else's where a folder of ours would be, or a folder for a file."""
    ours = where.agent_dir / "singletree"
    path = ours / name
    path.parent.mkdir(parents=True)
    if path.suffix:
        path.mkdir()
    else:
        path.write_text("theirs")
    return path


async def ran(client: RawClient, session_id: str) -> list[str]:
    """A turn to its end: the results of its calls."""
    await prompt(client, session_id, "go")
    ended = await settled(client, session_id, 30)
    assert ended["lastTurn"]["reason"] == "end_turn", ended
    page = await client.call("agent/session/entries", {"sessionId": session_id})
    messages = [entry.get("message", {}) for entry in page["entries"]]
    return [m["content"][0]["text"] for m in messages if m.get("role") == "toolResult"]


def warnings(client: RawClient) -> list[str]:
    return [event["message"] for event in events(client, "warning")]


@pytest.mark.parametrize("name", ["outputs", "trash", "children", "partials", "queues", "damaged"])
async def test_a_turn_goes_on_whatever_folder_of_ours_is_taken(tmp_path: Path, name: str) -> None:
    where = place(tmp_path)
    taken = occupied(where, name)
    (where.folder / "a.txt").write_text("old\n")
    async with daemon(where, *TURN) as client:
        session_id = await opened(client, where)
        write, edit, bash = await ran(client, session_id)
        assert [write, edit] == MADE and "30000\n" in bash
        if name == "outputs":
            assert "it could not be saved (Not a directory)" in bash
        if name == "partials":
            (told,) = warnings(client)
            assert told.startswith("The text that streams could not be kept in ")
        by_hand = {"sessionId": session_id, "command": "echo hi"}
        assert (await client.call("agent/bash", by_hand))["output"] == "hi\n"
        await client.call("agent/session/close", {"sessionId": session_id})
    assert taken.read_text() == "theirs"


async def test_no_edit_is_made_that_could_not_be_taken_back(tmp_path: Path) -> None:
    where = place(tmp_path)
    taken = occupied(where, "edits")
    (where.folder / "a.txt").write_text("old\n")
    async with daemon(where, *TURN) as client:
        session_id = await opened(client, where)
        write, edit, _ = await ran(client, session_id)
        for told in (write, edit):
            assert told.startswith(f"What the file holds before an edit cannot be kept in {taken}/")
            assert told.endswith("(Not a directory), so none is made.")
        listed = await client.call("agent/edits/list", {"sessionId": session_id})
        assert listed["edits"] == []
    assert [path.name for path in where.folder.iterdir()] == ["a.txt"]
    assert (where.folder / "a.txt").read_text() == "old\n"


async def test_what_cannot_be_kept_is_refused_and_does_not_wait(tmp_path: Path) -> None:
    where = place(tmp_path)
    occupied(where, "queues")
    async with daemon(where, SLOW) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        later = {"sessionId": session_id, "content": [{"type": "text", "text": "later"}]}
        with pytest.raises(Failed, match=r"What waits to be said could not be written to .*: "):
            await client.call("agent/followUp", later)
        assert (await client.call("agent/queue/list", {"sessionId": session_id}))["items"] == []
        await settled(client, session_id)


async def test_a_session_stays_where_it_cannot_be_put_away(tmp_path: Path) -> None:
    where = place(tmp_path)
    occupied(where, "trash")
    async with daemon(where, SLOW) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        await client.call("agent/session/close", {"sessionId": session_id})
        with pytest.raises(Failed, match=r"cannot be put away into .*: Not a directory"):
            await client.call("agent/session/delete", {"sessionId": session_id})
        assert await opened(client, where) == session_id


async def test_an_answer_that_cannot_be_remembered_holds_once(tmp_path: Path) -> None:
    where = place(tmp_path)
    occupied(where, "permissions.json")
    (where.folder / "a.txt").write_text("old\n")

    async with daemon(where, *TURN) as client:
        chosen = {"outcome": "selected", "optionId": "allow_workspace"}
        client.reactions["agent/permission/request"] = lambda params: {"result": chosen}
        session_id = await opened(client, where)
        assert (await ran(client, session_id))[:2] == MADE
        assert any("Permissions cannot be kept in " in told for told in warnings(client))
        listed = await client.call("agent/permission/list", {"sessionId": session_id})
        assert listed["rules"] == []


async def test_nothing_is_said_where_nothing_of_ours_can_be(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.agent_dir.mkdir()
    (where.agent_dir / "singletree").write_text("theirs")
    async with daemon(where, SLOW) as client:
        session_id = await opened(client, where)
        with pytest.raises(Failed, match=r"The session cannot be locked in .*: Not a directory"):
            await prompt(client, session_id, "go")
    assert (where.agent_dir / "singletree").read_text() == "theirs"


async def test_a_workspace_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "a.txt").write_text("old\n")
    calls = [
        *CALLS,
        {"tool": "write", "args": {"path": "deep/new.txt", "content": "new"}},
        {"tool": "read", "args": {"path": "a.txt"}},
        {"tool": "ls", "args": {}},
        {"tool": "find", "args": {"pattern": "*"}},
        {"tool": "grep", "args": {"pattern": "x"}},
    ]
    async with daemon(where, {"calls": calls}, SLOW) as client:
        session_id = await opened(client, where)
        shutil.rmtree(where.folder)
        told = await ran(client, session_id)
    gone = f"The folder of the workspace is gone: there is no {where.folder}."
    assert [text.startswith(gone) for text in told] == [True, True, False] + [True] * 5, told
    assert told[2].startswith("The working directory does not exist")
    assert not where.folder.exists()
