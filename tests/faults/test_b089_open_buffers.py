"""After an edit the editor shows the new text by itself, and one undo brings back the old."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.daemon.real import HELLO, daemon, events, opened, place, prompt, settled
from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, Editor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

EDITOR = {"applyEdit": "open", "read": {}, "save": {}}


def edit(path: str) -> Message:
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}]
    return {"tool": "edit", "args": {"path": path, "edits": edits}}


async def test_b089_open_clean_open_unsaved_and_closed(tmp_path: Path) -> None:
    where = place(tmp_path)
    turns = ({"calls": [edit("f"), edit("g"), edit("h")]}, {"text": "done"})
    agent = {**HELLO, "editor": EDITOR}
    yes = ("--mode", "allowAll")
    async with daemon(
        where, *turns, arguments=yes, agent=agent, capabilities=CAPABILITIES
    ) as client:
        editor = Editor(client)
        f, g, h, other = (where.folder / name for name in ("f", "g", "h", "other"))
        for path in (f, g, h, other):
            path.write_text("one\ntwo\nthree\n")
        session_id = await opened(client, where)
        uris = [editor.open(path) for path in (f, g, other)]
        editor.type(uris[1], 1, 0, "mine\n")
        await prompt(client, session_id, "go")
        await settled(client, session_id)
        assert [e["status"] for e in events(client, "tool") if "result" in e] == ["completed"] * 3
        await asyncio.sleep(1)
        texts = [editor.buffers[uri].text for uri in uris]
        assert texts == ["1\ntwo\n3\n", "1\nmine\ntwo\n3\n", "one\ntwo\nthree\n"]
        on_disk = [path.read_text() for path in (f, g, h, other)]
        assert on_disk == ["1\ntwo\n3\n", "one\ntwo\nthree\n", "1\ntwo\n3\n", "one\ntwo\nthree\n"]
        assert not editor.buffers[uris[0]].dirty
        for uri in uris[:2]:
            editor.undo(uri)
        texts = [editor.buffers[uri].text for uri in uris]
        assert texts == ["one\ntwo\nthree\n", "one\nmine\ntwo\nthree\n", "one\ntwo\nthree\n"]
        assert sorted(editor.buffers) == sorted(uris)
