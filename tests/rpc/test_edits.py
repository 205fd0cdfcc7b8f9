"""Taking back what the agent did, over the wire and through the editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import House, house
from tests.rpc.test_editing import DONE, EVERYTHING, edit, opened, write


async def call(made: House, method: str, **params: Any) -> Any:
    return await made.client.call(method, {"sessionId": made.session_id, **params})


async def listed(made: House) -> list[Message]:
    told: list[Message] = (await call(made, "agent/edits/list"))["edits"]
    return told


def told(made: House, kind: str) -> list[Message]:
    events = [note["event"] for note in made.client.notes("agent/event")]
    return [event for event in events if event["type"] == kind]


async def test_a_turn_is_taken_back_in_the_editor_and_on_the_disk(tmp_path: Path) -> None:
    turns = [edit("one", "1"), edit("one", "1", "closed"), write("new\n", "a/new"), DONE]
    async with house(tmp_path, *turns, editor=EVERYTHING) as made:
        uri = await opened(made, "one\n")
        (made.folder / "closed").write_text("one\n")
        calls = await made.say()
        edits = await listed(made)
        assert [(e["by"], e["created"], e["undone"]) for e in edits] == [
            ("editor", False, False),
            ("disk", False, False),
            ("disk", True, False),
        ]
        assert [e["toolCallId"] for e in edits] == [c["toolCallId"] for c in calls]
        (turn,) = told(made, "turn_started")
        assert {e["turnId"] for e in edits} == {turn["turnId"]}
        assert [e["editIds"][0] for e in told(made, "edits")] == [e["editId"] for e in edits]
        answer = await call(made, "agent/edits/revert", turnId=turn["turnId"])
        assert answer == {"reverted": [e["editId"] for e in reversed(edits)], "refused": []}
        assert made.editor.buffers[uri].text == (made.folder / "f").read_text() == "one\n"
        assert (made.folder / "closed").read_text() == "one\n"
        assert not (made.folder / "a").exists()
        assert [e["undone"] for e in await listed(made)] == [True, True, True]
        assert len(told(made, "edits")) == 6


async def test_what_a_person_changed_since_is_stale(tmp_path: Path) -> None:
    turns = [edit("one", "1"), edit("one", "1", "g"), DONE]
    async with house(tmp_path, *turns, editor=EVERYTHING) as made:
        uri = await opened(made, "one\n")
        (made.folder / "g").write_text("one\n")
        await made.say()
        made.editor.type(uri, 1, 0, "mine\n")
        answer = await call(made, "agent/edits/revert", uri=uri)
        assert (answer["reverted"], answer["refused"][0]["code"]) == ([], "stale")
        ids = [e["editId"] for e in await listed(made)]
        answer = await call(made, "agent/edits/revert", editIds=ids[1:])
        assert answer["reverted"] == ids[1:]
        assert made.editor.buffers[uri].text == "1\nmine\n"
        assert (made.folder / "g").read_text() == "one\n"


async def test_the_ledger_survives_the_daemon(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor=EVERYTHING) as made:
        await opened(made, "one\n")
        await made.say()
    async with house(tmp_path, DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "1\n")
        (edit_,) = await listed(made)
        answer = await call(made, "agent/edits/revert", turnId=edit_["turnId"])
        assert answer["reverted"] == [edit_["editId"]]
        assert made.editor.buffers[uri].text == (made.folder / "f").read_text() == "one\n"


async def test_a_file_that_was_made_and_is_open_by_now_is_taken_away(tmp_path: Path) -> None:
    async with house(tmp_path, write("new\n", "new"), DONE, editor=EVERYTHING) as made:
        await made.say()
        uri = made.editor.open(made.folder / "new")
        await made.known(uri)
        await call(made, "agent/edits/revert", uri=uri)
        assert not (made.folder / "new").exists()
        assert made.editor.buffers[uri].text == ""


async def test_edits_are_not_taken_back_while_a_turn_runs(tmp_path: Path) -> None:
    waiting = {"parts": [{"text": "Wait"}, {"wait": 30}]}
    async with house(tmp_path, waiting) as made:
        await call(made, "agent/prompt", content="go")
        with pytest.raises(Failed) as busy:
            await call(made, "agent/edits/revert", turnId="x")
        assert busy.value.data["code"] == "session_busy"
        await call(made, "agent/abort")


async def test_what_is_to_be_taken_back_must_be_said_and_exist(tmp_path: Path) -> None:
    async with house(tmp_path, DONE) as made:
        with pytest.raises(Failed) as nothing:
            await call(made, "agent/edits/revert")
        assert nothing.value.code == -32602
        with pytest.raises(Failed) as unknown:
            await call(made, "agent/edits/revert", editIds=["0"])
        assert unknown.value.data["code"] == "not_found"


async def test_an_edit_that_an_abort_left_open_can_be_taken_back(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor={}) as made:
        uri = await opened(made, "one\n")

        def apply(params: Message) -> Message:
            """The edit is made, and the answer comes too late."""
            made.editor.apply(params)
            made.client.request("agent/abort", {"sessionId": made.session_id})
            return {"error": {"code": 0, "message": "too late"}}

        made.editor.on_edit = apply
        await made.say()
        assert made.editor.buffers[uri].text == "1\n"
        (edit_,) = await listed(made)
        await call(made, "agent/edits/revert", editIds=[edit_["editId"]])
        assert made.editor.buffers[uri].text == "one\n"


async def test_a_deleted_session_leaves_no_texts_behind(tmp_path: Path) -> None:
    async with house(tmp_path, write("new\n", "new"), DONE) as made:
        await made.say()
        kept = tmp_path / "agent" / "singletree" / "edits" / made.session_id
        assert kept.is_dir()
        await call(made, "agent/session/close")
        await call(made, "agent/session/delete")
        assert not kept.exists()
