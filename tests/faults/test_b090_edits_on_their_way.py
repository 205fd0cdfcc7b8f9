"""An edit lands where it was meant, as the editor counts, or it does not land at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.rpc.client import Message
from tests.rpc.editor import House, house, said, until

DONE: Message = {"text": "done"}
TEXT = "😀 one é\u2028still one\r\n\ttwo 👩‍👩‍👧 x\r\nthree\r\n"


def edit(*pairs: tuple[str, str]) -> Message:
    edits = [{"oldText": old, "newText": new} for old, new in pairs]
    return {"call": "edit", "args": {"path": "f", "edits": edits}}


async def opened(made: House, text: str) -> str:
    (made.folder / "f").write_bytes(text.encode())
    uri = made.editor.open(made.folder / "f")
    await made.known(uri)
    return uri


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_b090_characters_are_counted_as_agreed(tmp_path: Path, encoding: str) -> None:
    capabilities = {
        "general": {"positionEncodings": [encoding]},
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    }
    turns = [edit(("é", "e"), ("👧 x", "👧 y"), ("three", "3 😀"))]
    async with house(tmp_path, *turns, DONE, capabilities=capabilities) as made:
        uri = await opened(made, TEXT)
        (call,) = await made.say()
        assert call["status"] == "completed", said(call)
        expected = TEXT.replace("é", "e").replace("👧 x", "👧 y").replace("three", "3 😀")
        assert made.editor.buffers[uri].text == expected
        assert len(made.editor.edits[0]) == 3


async def test_b090_a_version_that_has_passed_is_no_edit(tmp_path: Path) -> None:
    """The editor refuses an edit of a text that it no longer has; the next try is good."""
    turns = [edit(("one", "1")), edit(("one", "1")), DONE]
    async with house(tmp_path, *turns) as made:
        uri = await opened(made, "one\n\ntwo\n")
        apply = made.editor.on_edit

        def typed_first(params: Message) -> Message:
            made.editor.on_edit = apply
            made.editor.type(uri, 1, 0, "typed")
            return apply(params)

        made.editor.on_edit = typed_first
        first, second = await made.say()
        assert (first["status"], second["status"]) == ("failed", "completed")
        assert "was changed while this edit was on its way" in said(first)
        assert made.editor.buffers[uri].text == "1\ntyped\ntwo\n"


async def test_b090_an_edit_that_is_told_late_is_waited_for(tmp_path: Path) -> None:
    """Some editors gather changes for a moment before they tell of them."""
    async with house(tmp_path, edit(("one", "1")), DONE) as made:
        uri = await opened(made, "one\n")

        def late(params: Message) -> Message:
            changes = params["edit"]["documentChanges"][0]["edits"]
            asyncio.get_running_loop().call_later(0.8, made.editor.change, uri, changes)
            return {"result": {"applied": True}}

        made.editor.on_edit = late
        (call,) = await made.say()
        assert call["status"] == "completed", said(call)
        assert made.editor.buffers[uri].text == "1\n"


async def test_b090_edits_of_several_open_files_do_not_disturb_each_other(tmp_path: Path) -> None:
    names = [f"f{n}" for n in range(6)]
    calls = [
        {"tool": "edit", "args": {"path": n, "edits": [{"oldText": "one", "newText": n}]}}
        for n in names
    ]
    editor = {"applyEdit": "open", "read": {}, "save": {}}
    async with house(tmp_path, {"calls": calls}, DONE, editor=editor) as made:
        for name in names:
            (made.folder / name).write_text("one\n")
            await made.known(made.editor.open(made.folder / name))
        told = await made.say()
        assert {call["status"] for call in told} == {"completed"}
        assert [(made.folder / n).read_text() for n in names] == [f"{n}\n" for n in names]
        await until(lambda: not any(b.dirty for b in made.editor.buffers.values()))
