"""Edits of open files go through the editor, and only what is proven counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, Editor, House, house, said, until

from singletree.errors import ToolError
from singletree.rpc.editing.files import EditorFiles
from singletree.session.edits.edit import Note
from singletree.session.edits.ledger import Ledger

EVERYTHING: Message = {"applyEdit": "open", "read": {}, "save": {}}
DONE: Message = {"text": "done"}
SEES_OLD = "commands still see"


def edit(old: str, new: str, path: str = "f") -> Message:
    return {"call": "edit", "args": {"path": path, "edits": [{"oldText": old, "newText": new}]}}


def write(text: str, path: str = "f") -> Message:
    return {"call": "write", "args": {"path": path, "content": text}}


async def opened(made: House, text: str, name: str = "f") -> str:
    """A file that is open and clean."""
    (made.folder / name).write_bytes(text.encode())
    uri = made.editor.open(made.folder / name)
    await made.known(uri)
    return uri


async def test_a_clean_open_file_is_edited_in_one_step_and_saved(tmp_path: Path) -> None:
    async with house(tmp_path, edit("two", "TWO"), DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\ntwo\nthree\n")
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert SEES_OLD not in said(call)
        assert made.editor.labels == ["edit f"]
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
        assert made.editor.edits == [[{"range": span, "newText": "TWO"}]]
        assert (made.folder / "f").read_text() == "one\nTWO\nthree\n"
        made.editor.undo(uri)
        assert made.editor.buffers[uri].text == "one\ntwo\nthree\n"


async def test_several_replacements_are_one_step_of_undo(tmp_path: Path) -> None:
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "four", "newText": "4"}]
    call = {"call": "edit", "args": {"path": "f", "edits": edits}}
    async with house(tmp_path, call, DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\ntwo\nthree\nfour\n")
        await made.say()
        assert made.editor.buffers[uri].text == "1\ntwo\nthree\n4\n"
        assert [len(edits) for edits in made.editor.edits] == [2]
        made.editor.undo(uri)
        assert made.editor.buffers[uri].text == "one\ntwo\nthree\nfour\n"


async def test_an_editor_that_cannot_save_keeps_it_unsaved_and_the_model_knows(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, edit("one", "1"), edit("1", "2"), DONE) as made:
        uri = await opened(made, "one\n")
        first, second = await made.say()
        assert SEES_OLD in said(first) and "is not saved yet" in said(first)
        assert "nothing was saved" in said(second)
        assert made.editor.buffers[uri].text == "2\n"
        assert (made.folder / "f").read_text() == "one\n"


async def test_an_unsaved_buffer_is_edited_and_never_saved(tmp_path: Path) -> None:
    async with house(tmp_path, edit("two", "TWO"), DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\n")
        made.editor.type(uri, 1, 0, "two\n")
        (call,) = await made.say()
        assert "nothing was saved" in said(call)
        assert made.editor.buffers[uri].text == "one\nTWO\n"
        assert (made.folder / "f").read_text() == "one\n"
        made.editor.undo(uri)
        assert made.editor.buffers[uri].text == "one\ntwo\n"


async def test_an_untitled_buffer_is_edited(tmp_path: Path) -> None:
    async with house(tmp_path, edit("draft", "text", "untitled:1"), DONE) as made:
        uri = made.editor.open("untitled:1", "a draft\n")
        await made.say()
        assert made.editor.buffers[uri].text == "a text\n"


async def test_what_is_named_like_a_buffer_but_not_open_is_not_made_a_file(tmp_path: Path) -> None:
    async with house(tmp_path, write("text", "untitled:9"), DONE) as made:
        await opened(made, "other\n")
        (call,) = await made.say()
        assert said(call).startswith("untitled:9 is no text that is open in the editor.")
        assert not (made.folder / "untitled:9").exists()


async def test_closed_and_new_files_are_written_on_the_disk(tmp_path: Path) -> None:
    turns = [edit("one", "1", "closed"), write("new\n", "a/b/new"), DONE]
    async with house(tmp_path, *turns, editor=EVERYTHING) as made:
        await opened(made, "other\n")
        (made.folder / "closed").write_text("one\n")
        assert [call["status"] for call in await made.say()] == ["completed", "completed"]
        assert (made.folder / "closed").read_text() == "1\n"
        assert (made.folder / "a" / "b" / "new").read_text() == "new\n"
        assert made.editor.labels == []


async def test_a_new_file_that_is_open_and_empty_is_filled_and_saved(tmp_path: Path) -> None:
    async with house(tmp_path, write("x = 1\n", "new.py"), DONE, editor=EVERYTHING) as made:
        uri = made.editor.open(made.folder / "new.py", "")
        await made.known(uri)
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert made.editor.buffers[uri].text == (made.folder / "new.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("wanted", [None, {"applyEdit": "none"}])
async def test_a_clean_file_of_an_editor_that_edits_nothing_is_written_on_the_disk(
    tmp_path: Path, wanted: Message | None
) -> None:
    capabilities = {} if wanted is None else CAPABILITIES
    turns = [edit("one", "1"), DONE]
    async with house(tmp_path, *turns, editor=wanted, capabilities=capabilities) as made:
        await opened(made, "one\n")
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert (made.folder / "f").read_text() == "1\n"
        assert made.editor.labels == []


async def test_an_editor_that_takes_no_versions_gets_plain_changes(tmp_path: Path) -> None:
    workspace = {"workspace": {"applyEdit": True}}
    async with house(tmp_path, edit("one", "1"), DONE, capabilities=workspace) as made:
        uri = await opened(made, "one\n")
        asked: list[Message] = []

        def apply(params: Message) -> Message:
            asked.append(params)
            made.editor.change(uri, params["edit"]["changes"][uri])
            return {"result": {"applied": True}}

        made.editor.on_edit = apply
        await made.say()
        assert list(asked[0]["edit"]) == ["changes"]
        assert made.editor.buffers[uri].text == "1\n"


@pytest.mark.parametrize(
    ("disk", "old", "new", "shown", "after"),
    [
        (b"one\r\ntwo\r\n", "two", "2\n3", "one\ntwo\n", "one\n2\n3\n"),
        (b"one\r\ntwo\r\n", "two", "2\n3", "one\r\ntwo\r\n", "one\r\n2\r\n3\r\n"),
        (b"\xef\xbb\xbfone\n", "one", "1", "one\n", "1\n"),
        (b"caf\xe9 one\n", "one", "zw\u00f6lf", "caf\u00e9 one\n", "caf\u00e9 zw\u00f6lf\n"),
    ],
)
async def test_the_buffer_keeps_its_encoding_and_its_line_ends(
    tmp_path: Path, disk: bytes, old: str, new: str, shown: str, after: str
) -> None:
    async with house(tmp_path, edit(old, new), DONE) as made:
        (made.folder / "f").write_bytes(disk)
        uri = made.editor.open(made.folder / "f", shown)
        assert not await (await made.known(uri)).dirty()
        (call,) = await made.say()
        assert call["status"] == "completed", said(call)
        assert made.editor.buffers[uri].text == after


async def test_a_clean_buffer_that_is_older_than_the_disk_is_left_to_the_editor(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, edit("by a command", "twice"), DONE, editor=EVERYTHING) as made:
        await opened(made, "one\n")
        (made.folder / "f").write_text("changed by a command\n")
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert (made.folder / "f").read_text() == "changed twice\n"
        assert made.editor.labels == []


def refuses(editor: Editor) -> Callable[[Message], Message]:
    return lambda params: {"result": {"applied": False, "failureReason": "read only"}}


def lies(editor: Editor) -> Callable[[Message], Message]:
    return lambda params: {"result": {"applied": True}}


def does_not_know(editor: Editor) -> Callable[[Message], Message]:
    return lambda params: {"error": {"code": -32601, "message": "unknown method"}}


def answers_null(editor: Editor) -> Callable[[Message], Message]:
    return lambda params: {"result": None}


def is_typed_into(editor: Editor) -> Callable[[Message], Message]:
    """Somebody types right before the edit arrives; it is thrown away, but said to be applied."""

    def apply(params: Message) -> Message:
        (uri,) = editor.buffers
        editor.type(uri, 1, 0, "typed")
        return {"result": {"applied": True}}

    return apply


def does_half(editor: Editor) -> Callable[[Message], Message]:
    def apply(params: Message) -> Message:
        change = params["edit"]["documentChanges"][0]
        editor.change(change["textDocument"]["uri"], change["edits"][:1])
        return {"result": {"applied": True}}

    return apply


REFUSED = "The editor did not apply this edit of f: "
TYPED = "f was changed while this edit was on its way. Nothing was changed by it"
UNCERTAIN = "It is not certain what became of this edit of f"


@pytest.mark.parametrize(
    ("behaviour", "told", "declared"),
    [
        (refuses, f"{REFUSED}read only. Nothing was changed.", {}),
        (does_not_know, f"{REFUSED}unknown method", {}),
        (answers_null, f"{REFUSED}it does not know how", {}),
        (lies, f"{REFUSED}it said so, but its text is as before", EVERYTHING),
        (is_typed_into, TYPED, EVERYTHING),
        (is_typed_into, TYPED, {}),
        (does_half, UNCERTAIN, EVERYTHING),
    ],
)
async def test_what_is_not_proven_is_told_as_failed_and_kept(
    tmp_path: Path,
    behaviour: Callable[[Editor], Callable[[Message], Message]],
    told: str,
    declared: Message,
) -> None:
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "two", "newText": "2"}]
    turn = {"call": "edit", "args": {"path": "f", "edits": edits}}
    async with house(tmp_path, turn, DONE, editor=declared) as made:
        uri = await opened(made, "one\n\ntwo\n")
        made.editor.on_edit = behaviour(made.editor)
        (failed,) = await made.say()
        assert failed["status"] == "failed"
        assert told in said(failed)
        assert failed["result"]["details"] == {"path": "f", "intended": "1\n\n2\n"}
        assert (made.folder / "f").read_text() == "one\n\ntwo\n"
        assert "1" not in made.editor.buffers[uri].text or behaviour is does_half
        listed = await made.client.call("agent/edits/list", {"sessionId": made.session_id})
        assert listed == {"edits": []}


async def test_what_is_typed_elsewhere_meanwhile_does_no_harm(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor={"read": {}}) as made:
        uri = await opened(made, "one\ntwo\nthree\n")

        def apply(params: Message) -> Message:
            """The edit and what is typed next are told as one change, as some editors do."""
            buffer = made.editor.buffers[uri]
            changes = params["edit"]["documentChanges"][0]["edits"]
            text = made.editor.edited(buffer.text, changes)
            made.editor.put(buffer, text.replace("three", "THREE"))
            return {"result": {"applied": True}}

        made.editor.on_edit = apply
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert made.editor.buffers[uri].text == "1\ntwo\nTHREE\n"


class TypedInto(Ledger):
    """A ledger during whose work somebody types."""

    def __init__(self, folder: Path, typed: Callable[[], Awaitable[None]]) -> None:
        super().__init__(folder, lambda: "t", lambda event: None, lambda message: None)
        self._typed = typed

    @asynccontextmanager
    async def making(self, *args: Any, **named: Any) -> AsyncIterator[Note]:
        async with super().making(*args, **named) as note:
            await self._typed()
            yield note


async def test_what_is_typed_while_an_edit_is_noted_stays(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\ntwo\n")

        async def typed() -> None:
            document = await made.known(uri)
            made.editor.type(uri, 0, 0, "my ")
            await until(lambda: str(document.text).startswith("my "))

        ledger = TypedInto(tmp_path / "ledger", typed)
        files = EditorFiles(made.folder, lambda: [made.connection], ledger)
        with pytest.raises(ToolError, match="was changed while this edit was on its way"):
            await files.write(made.folder / "f", b"ONE\ntwo\n", label="edit f", call_id="c")
        assert made.editor.buffers[uri].text == "my one\ntwo\n"
        assert made.editor.edits == []


async def test_a_buffer_is_not_taken_by_a_link_that_was_turned(tmp_path: Path) -> None:
    async with house(tmp_path, DONE, editor=EVERYTHING) as made:
        ledger = Ledger(tmp_path / "ledger", lambda: "t", lambda event: None, lambda message: None)
        files = EditorFiles(made.folder, lambda: [made.connection], ledger)
        uri = await opened(made, "secret\n")
        made.editor.type(uri, 0, 0, "my ")
        way, real = made.folder / "way", str(made.folder / "f")
        await to_thread.run_sync(way.symlink_to, "f")
        document = await made.known(uri)
        await until(lambda: str(document.text).startswith("my "))
        files.leads.allow([(way, real)])
        assert await files.read(way) == b"my secret\n"
        files.leads.allow([(way, str(made.folder / "other"))])
        for reading in (files.read(way), files.write(way, b"x", label="write way")):
            with pytest.raises(ToolError, match="leads elsewhere than when this call was allowed"):
                await reading


async def test_a_file_that_comes_while_a_new_one_is_noted_stays(tmp_path: Path) -> None:
    async def typed() -> None:
        await to_thread.run_sync((tmp_path / "f").write_text, "theirs\n")

    files = EditorFiles(tmp_path, lambda: [], TypedInto(tmp_path / "ledger", typed))
    with pytest.raises(ToolError, match="was changed by something else"):
        await files.write(tmp_path / "f", b"ours\n", label="write f", call_id="c")
    assert (tmp_path / "f").read_text() == "theirs\n"


async def test_a_formatter_at_saving_is_told(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\n")

        def save(saved: str) -> None:
            buffer = made.editor.buffers[saved]
            made.editor.put(buffer, buffer.text.upper() + "# formatted\n")
            made.editor.write(saved)

        made.editor.on_save = save
        (call,) = await made.say()
        assert "Saving changed the text further" in said(call)
        assert (made.folder / "f").read_text() == "1\n# formatted\n"
        assert not made.editor.buffers[uri].dirty


async def test_a_save_that_fails_is_told(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "one\n")
        failed = {"saved": [], "failed": [{"uri": uri, "message": "disk full"}]}
        made.client.reactions["agent/editor/save"] = lambda params: {"result": failed}
        (call,) = await made.say()
        assert call["status"] == "completed"
        assert "could not be saved (disk full)" in said(call)
        assert made.editor.buffers[uri].text == "1\n"


async def test_an_edit_made_from_another_text_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor=EVERYTHING, mode="ask") as made:
        uri = await opened(made, "one\n")

        def allow(params: Message) -> Message:
            made.editor.put(made.editor.buffers[uri], "something else\n")
            return {"result": {"outcome": "selected", "optionId": params["options"][0]["id"]}}

        made.client.reactions["agent/permission/request"] = allow
        (call,) = await made.say()
        assert call["status"] == "failed"
        assert made.editor.buffers[uri].text == "something else\n"


async def test_an_abort_while_the_editor_does_not_answer_ends_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE, editor=EVERYTHING) as made:
        await opened(made, "one\n")
        del made.client.reactions["workspace/applyEdit"]
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        asked = await made.client.until(lambda f: f.get("method") == "workspace/applyEdit")
        done = await made.client.call("agent/abort", session, 2)
        assert done["aborted"]
        cancelled = made.client.notes("$/cancelRequest")
        assert cancelled == [{"id": asked["id"]}]


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_an_edit_that_may_still_come_is_not_told_as_none(tmp_path: Path) -> None:
    async with house(tmp_path, edit("one", "1"), DONE) as made:
        uri = await opened(made, "one\n")
        del made.client.reactions["workspace/applyEdit"]
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        await made.client.call("agent/session/wait", {**session, "for": "settled"}, 60)
        told = [note["event"] for note in made.client.notes("agent/event")]
        (failed,) = [e for e in told if e["type"] == "tool" and "result" in e]
        assert said(failed).startswith(f"{UNCERTAIN}: the editor did not answer")
        (asked,) = made.client.notes("workspace/applyEdit")
        made.editor.apply(asked)
        assert made.editor.buffers[uri].text == "1\n"
        (late,) = (await made.client.call("agent/edits/list", session))["edits"]
        made.client.reactions["workspace/applyEdit"] = made.editor.apply
        await made.client.call("agent/edits/revert", {**session, "editIds": [late["editId"]]})
        assert made.editor.buffers[uri].text == "one\n"


async def test_several_edits_in_one_turn_follow_each_other(tmp_path: Path) -> None:
    turns = [edit(f"line {n}\n", f"LINE {n}\n") for n in range(1, 9)]
    async with house(tmp_path, *turns, DONE, editor=EVERYTHING) as made:
        uri = await opened(made, "".join(f"line {n}\n" for n in range(10)))
        assert {call["status"] for call in await made.say()} == {"completed"}
        expected = "line 0\n" + "".join(f"LINE {n}\n" for n in range(1, 9)) + "line 9\n"
        assert (made.folder / "f").read_text() == expected
        document = await made.known(uri)
        await until(lambda: str(document.text) == expected)


WANTS_ALL: Message = {"applyEdit": "all", "save": {}}
MAKES: Message = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
    }
}


async def test_an_editor_that_wants_all_edits_gets_those_of_closed_and_new_files(
    tmp_path: Path,
) -> None:
    turns = [edit("one", "1", "closed"), write("new\n", "new"), DONE]
    async with house(tmp_path, *turns, editor=WANTS_ALL, capabilities=MAKES) as made:
        (made.folder / "closed").write_text("one\ntwo\n")
        calls = await made.say()
        assert [call["status"] for call in calls] == ["completed"] * 2, list(map(said, calls))
        assert made.editor.labels == ["edit closed", "write new"]
        assert (made.folder / "closed").read_text() == "1\ntwo\n"
        assert (made.folder / "new").read_text() == "new\n"
        session = {"sessionId": made.session_id}
        edits = (await made.client.call("agent/edits/list", session))["edits"]
        assert [(e["by"], e["created"]) for e in edits] == [("editor", False), ("editor", True)]
        done = await made.client.call(
            "agent/edits/revert", {**session, "turnId": edits[0]["turnId"]}
        )
        assert done["refused"] == []
        assert (made.folder / "closed").read_text() == "one\ntwo\n"
        assert not (made.folder / "new").exists()


async def test_what_an_editor_made_but_did_not_save_is_told(tmp_path: Path) -> None:
    turns = [edit("one", "1", "closed"), DONE]
    async with house(tmp_path, *turns, editor=WANTS_ALL, capabilities=MAKES) as made:
        (made.folder / "closed").write_text("one\n")
        made.client.reactions["agent/editor/save"] = lambda params: {
            "result": {"saved": [], "failed": [{"uri": params["uris"][0], "message": "disk full"}]}
        }
        (call,) = await made.say()
        assert call["status"] == "failed"
        assert "the editor made it, but it did not save it (disk full)" in said(call)


async def test_an_editor_that_cannot_make_files_gets_none_to_make(tmp_path: Path) -> None:
    turns = [write("new\n", "new"), edit("one", "1", "latin"), DONE]
    async with house(tmp_path, *turns, editor=WANTS_ALL) as made:
        (made.folder / "latin").write_bytes(b"caf\xe9 one\n")
        calls = await made.say()
        assert [call["status"] for call in calls] == ["completed"] * 2, list(map(said, calls))
        assert made.editor.labels == []
        assert (made.folder / "latin").read_bytes() == b"caf\xe9 1\n"


@pytest.mark.parametrize("behaviour", [refuses, lies])
async def test_a_closed_file_that_the_editor_did_not_change_is_told(
    tmp_path: Path, behaviour: Callable[[Editor], Callable[[Message], Message]]
) -> None:
    turns = [edit("one", "1", "closed"), DONE]
    async with house(tmp_path, *turns, editor=WANTS_ALL, capabilities=MAKES) as made:
        (made.folder / "closed").write_text("one\n")
        made.editor.on_edit = behaviour(made.editor)
        made.editor.on_save = lambda uri: None
        (call,) = await made.say()
        assert call["status"] == "failed"
        assert call["result"]["details"]["intended"] == "1\n"
        assert (made.folder / "closed").read_text() == "one\n"
