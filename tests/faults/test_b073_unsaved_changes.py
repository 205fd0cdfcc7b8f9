"""Unsaved text is read, edited where it is, and never written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.real import HELLO, Place, daemon, events, opened, place, prompt, settled
from tests.rpc.client import Message, RawClient
from tests.rpc.editor import CAPABILITIES, Editor, said

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

EDIT = {"path": "f", "edits": [{"oldText": "one", "newText": "1"}]}
TURNS = ({"call": "read", "args": {"path": "f"}}, {"call": "edit", "args": EDIT}, {"text": "done"})
YES = ("--mode", "allowAll")
EDITOR = {"applyEdit": "open", "read": {}, "save": {}}


async def played(client: RawClient, where: Place) -> tuple[Editor, str, list[Message]]:
    """The editor with its unsaved text, the text's address, and what the calls came to."""
    editor = Editor(client)
    (where.folder / "f").write_text("one\n")
    session_id = await opened(client, where)
    uri = editor.open(where.folder / "f")
    editor.type(uri, 1, 0, "TWO\n")
    await prompt(client, session_id, "go")
    await settled(client, session_id)
    return editor, uri, [e for e in events(client, "tool") if "result" in e]


@pytest.mark.parametrize("declared", [EDITOR, {}])
async def test_b073_the_edit_goes_into_the_buffer(tmp_path: Path, declared: Message) -> None:
    where = place(tmp_path)
    agent = {**HELLO, "editor": declared}
    async with daemon(
        where, *TURNS, arguments=YES, agent=agent, capabilities=CAPABILITIES
    ) as client:
        editor, uri, (read, edit) = await played(client, where)
        assert said(read).startswith("one\nTWO\n")
        assert edit["status"] == "completed"
        assert editor.buffers[uri].text == "1\nTWO\n"
        assert (where.folder / "f").read_text() == "one\n"
        (asked,) = [f for f in client.frames if f.get("method") == "workspace/applyEdit"]
        (change,) = asked["params"]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 2}
        editor.undo(uri)
        assert editor.buffers[uri].text == "one\nTWO\n"


@pytest.mark.parametrize("agent", [HELLO, None])
async def test_b073_an_editor_that_does_not_offer_edits(tmp_path: Path, agent: object) -> None:
    where = place(tmp_path)
    async with daemon(where, *TURNS, arguments=YES, agent=agent) as client:
        editor, uri, (read, edit) = await played(client, where)
        assert said(read).startswith("one\nTWO\n")
        assert edit["status"] == "failed"
        assert "unsaved changes" in said(edit)
        assert editor.buffers[uri].text == "one\nTWO\n"
        assert (where.folder / "f").read_text() == "one\n"
        assert not any(f.get("method") == "workspace/applyEdit" for f in client.frames)
