"""What is unsaved in an editor is what the agent reads: tools, instructions, and what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Message, frame
from tests.rpc.editor import House, house, said, until

READ: Message = {"call": "read", "args": {"path": "f"}}
DONE: Message = {"text": "done"}
UNSAVED = "This is the unsaved text in the editor."


def call(tool: str, **args: object) -> Message:
    return {"call": tool, "args": args}


async def heard(made: House) -> str:
    """What the model hears of the one call that the next turn makes."""
    return said((await made.say())[0])


async def test_an_unsaved_buffer_is_read_and_a_clean_one_yields_to_the_disk(tmp_path: Path) -> None:
    async with house(tmp_path, *([READ, DONE] * 4)) as made:
        file = made.folder / "f"
        file.write_text("one\n")
        uri = made.editor.open(file)
        await made.known(uri)
        file.write_text("from a command\n")
        assert await heard(made) == "from a command\n"
        made.editor.type(uri, 0, 3, " more")
        told = await heard(made)
        assert told.startswith("one more\n") and UNSAVED in told
        made.editor.write(uri)
        await made.known(uri)
        file.write_text("from a command\n")
        assert await heard(made) == "from a command\n"
        made.editor.type(uri, 0, 0, "x")
        made.editor.close(uri)
        assert await heard(made) == "from a command\n"


async def test_text_that_was_unsaved_before_the_editor_told_us_of_it_counts(tmp_path: Path) -> None:
    async with house(tmp_path, READ, DONE) as made:
        (made.folder / "f").write_text("one\n")
        made.editor.open(made.folder / "f", "restored\n")
        assert (await heard(made)).startswith("restored\n")


async def test_a_buffer_that_was_reloaded_is_clean_again(tmp_path: Path) -> None:
    async with house(tmp_path, READ, DONE) as made:
        file = made.folder / "f"
        file.write_text("one\n")
        uri = made.editor.open(file)
        document = await made.known(uri)
        file.write_text("two\n")
        made.editor.put(made.editor.buffers[uri], "two\n")
        await until(lambda: document.changed)
        await until(lambda: not document.changed)
        file.write_text("three\n")
        assert await heard(made) == "three\n"


async def test_what_was_never_saved_is_found_listed_and_read(tmp_path: Path) -> None:
    turns = [
        call("read", path="untitled:Untitled-1"),
        call("read", path="new/x.py"),
        call("ls", path="."),
        call("find", pattern="*.py"),
        call("grep", pattern="NEEDLE"),
    ]
    async with house(tmp_path, *turns, DONE) as made:
        (made.folder / "new").mkdir()
        (made.folder / ".gitignore").write_text("hidden\n")
        made.editor.open("untitled:Untitled-1", "a draft NEEDLE\n")
        made.editor.open(made.folder / "new" / "x.py", "NEEDLE = 1\n")
        made.editor.open(made.folder / "hidden" / "y.py", "z = 1\n")
        made.editor.open(made.folder / "top.py", "")
        made.editor.open("git:/somewhere/else", "NEEDLE")
        draft, new, listed, found, matches = map(said, await made.say())
        assert draft.startswith("a draft NEEDLE\n") and UNSAVED in draft
        assert new.startswith("NEEDLE = 1\n")
        assert listed == ".gitignore\nnew/\nuntitled:Untitled-1"
        assert found == "new/x.py"
        assert matches == "new/x.py:1: NEEDLE = 1\nuntitled:Untitled-1:1: a draft NEEDLE"


async def test_keys_that_are_open_in_an_editor_are_not_found_by_a_search(tmp_path: Path) -> None:
    async with house(tmp_path, call("grep", pattern="sk-[0-9]", path=".."), DONE) as made:
        keys = made.root / "agent" / "auth.json"
        keys.parent.mkdir(exist_ok=True)
        keys.write_text("{}")
        uri = made.editor.open(keys)
        made.editor.type(uri, 0, 0, "sk-1")
        await made.known(uri)
        assert await heard(made) == "No line matches."


async def test_instructions_are_read_through_the_same_eyes(tmp_path: Path) -> None:
    async with house(tmp_path, {"text": "one"}, {"text": "two"}) as made:
        file = made.folder / "AGENTS.md"
        file.write_text("Say it in Latin.")
        uri = made.editor.open(file)
        await made.say()
        made.editor.type(uri, 0, 0, "Always. ")
        await made.say()
        first, second = (request.system for request in made.requests())
        assert "Say it in Latin." in first and "Always." not in first
        assert "Always. Say it in Latin." in second


def selection(uri: str, **more: Any) -> Message:
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    return {"type": "selection", "uri": uri, "range": span, **more}


async def prompts(made: House) -> list[str]:
    told = await made.client.call("agent/session/entries", {"sessionId": made.session_id})
    messages = [e["message"] for e in told["entries"] if e["type"] == "message"]
    said = [m["content"] for m in messages if m["role"] == "user"]
    return ["\n\n".join(block["text"] for block in content) for content in said]


async def test_what_is_typed_right_behind_a_message_is_not_in_it(tmp_path: Path) -> None:
    async with house(tmp_path, {"text": "one"}, {"text": "two"}) as made:
        uri = made.editor.open(made.folder / "f", "old text\n")
        await made.known(uri)
        context = {
            "activeEditor": {"uri": uri, "version": 1},
            "selection": {"range": selection(uri)["range"]},
        }
        params = {
            "sessionId": made.session_id,
            "content": [{"type": "text", "text": "Look."}, selection(uri, version=1)],
            "context": context,
        }
        change = {
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": "new text\n"}],
        }
        made.client.raw(
            frame({"jsonrpc": "2.0", "id": "p", "method": "agent/prompt", "params": params})
            + frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change})
        )
        await made.client.answer("p")
        await made.settled()
        (text,) = await prompts(made)
        assert text.count("```\nold\n```") == 2
        assert "new" not in text


async def test_what_the_editor_adds_does_not_come_back_to_be_written_anew(tmp_path: Path) -> None:
    async with house(tmp_path, {"text": "one"}) as made:
        shown = made.folder / "f"
        said = [
            {"type": "text", "text": "Look at @f."},
            {"type": "fileMention", "uri": shown.as_uri()},
        ]
        seen = {"start": {"line": 2, "character": 0}, "end": {"line": 9, "character": 0}}
        editor = {"uri": shown.as_uri(), "visible": seen}
        await made.say(content=said, context={"activeEditor": editor})
        (text,) = await prompts(made)
        told = f"The user points to {shown}.\n\nThe editor shows {shown} lines 3-9."
        assert text == f"Look at @f.\n\n{told}"
        rows = await made.client.call("agent/tree/get", {"sessionId": made.session_id})
        (asked,) = [row["entryId"] for row in rows["rows"] if row.get("role") == "user"]
        target = {"sessionId": made.session_id, "entryId": asked}
        for method in ("agent/session/fork", "agent/tree/navigate"):
            assert (await made.client.call(method, target))["editorText"] == "Look at @f."


async def test_what_waited_comes_back_with_marks_on_what_the_editor_added(tmp_path: Path) -> None:
    async with house(tmp_path, {"parts": [{"text": "Wait"}, {"wait": 30}]}) as made:
        shown = (made.folder / "f").as_uri()
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        said = [{"type": "text", "text": "Look at @f."}, {"type": "fileMention", "uri": shown}]
        context = {"activeEditor": {"uri": shown}}
        later = {**session, "content": said, "context": context, "whenBusy": "followUp"}
        await made.client.call("agent/prompt", later)
        done = await made.client.call("agent/abort", {**session, "queue": "return"})
        (waited,) = done["queue"]
        assert [block.get("context", False) for block in waited["content"]] == [False, True, True]


async def test_a_range_of_another_version_is_told_as_a_place(tmp_path: Path) -> None:
    async with house(tmp_path, {"text": "one"}) as made:
        uri = made.editor.open(made.folder / "f", "old text\n")
        await made.say(content=[selection(uri, version=7), selection("file:///nowhere")])
        (text,) = await prompts(made)
        assert (
            text
            == f"The user selected {made.folder}/f line 1.\n\nThe user selected /nowhere line 1."
        )


async def test_a_queued_text_is_cut_out_when_it_is_changed(tmp_path: Path) -> None:
    async with house(tmp_path, {"parts": [{"text": "Wait"}, {"wait": 30}]}) as made:
        uri = made.editor.open(made.folder / "f", "old text\n")
        session = {"sessionId": made.session_id}
        await made.client.call("agent/prompt", {**session, "content": "go"})
        queued = await made.client.call("agent/followUp", {**session, "content": "later"})
        update = {**session, "queueId": queued["queueId"], "content": [selection(uri)]}
        told = await made.client.call("agent/queue/update", update)
        assert "```\nold\n```" in json.dumps(told["items"][0]["content"]).replace("\\n", "\n")
        await made.client.call("agent/abort", {**session, "queue": "drop"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_are_counted_as_agreed(tmp_path: Path, encoding: str) -> None:
    general = {"general": {"positionEncodings": [encoding]}}
    async with house(tmp_path, READ, DONE, capabilities=general) as made:
        uri = made.editor.open(made.folder / "f", "😀é\u2028x\r\nlast")
        end = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[encoding]
        made.editor.type(uri, 0, end, "!")
        made.editor.type(uri, 1, 4, " one")
        document = await made.known(uri)
        assert str(document.text) == made.editor.buffers[uri].text == "😀!é\u2028x\r\nlast one"
        assert (await heard(made)).startswith("😀!é\u2028x")
