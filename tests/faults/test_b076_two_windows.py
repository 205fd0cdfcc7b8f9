"""Two windows on one folder: one daemon gives both the same session, two daemons keep apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.real import HELLO, daemon, place, prompt, settled
from tests.daemon.several import house
from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, Editor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

EDIT = {"path": "f", "edits": [{"oldText": "one", "newText": "1"}]}
TURNS = ({"call": "edit", "args": EDIT}, {"text": "done"})


def allow(params: Message) -> Message:
    return {"result": {"outcome": "selected", "optionId": params["options"][0]["id"]}}


async def test_b076_two_windows_of_one_daemon(tmp_path: Path) -> None:
    """Both hear the same; the window that has the file open is asked to change it."""
    where = place(tmp_path)
    async with house(where, *TURNS) as join:
        first, second = ({**HELLO, "clientId": name} for name in ("first", "second"))
        async with (
            join(first, capabilities=CAPABILITIES) as one,
            join(second, capabilities=CAPABILITIES) as two,
        ):
            Editor(one)
            editor = Editor(two)
            (where.folder / "f").write_text("one\n")
            uri = editor.open(where.folder / "f")
            editor.type(uri, 1, 0, "mine\n")
            opened = [
                await client.call("agent/session/open", {"cwd": str(where.folder)})
                for client in (one, two)
            ]
            session_id = opened[0]["sessionId"]
            assert opened[1]["sessionId"] == session_id
            one.reactions["agent/permission/request"] = allow
            await prompt(one, session_id, "go")
            await settled(one, session_id)
            assert editor.buffers[uri].text == "1\nmine\n"
            assert not any(f.get("method") == "workspace/applyEdit" for f in one.frames)
            end = two.until(lambda f: '"settled"' in str(f).replace("'", '"'))
            await end
            assert [n["seq"] for n in two.notes("agent/event")] == [
                n["seq"] for n in one.notes("agent/event")
            ]


async def test_b076_two_windows_with_a_daemon_each(tmp_path: Path) -> None:
    """The second daemon finds the newest session in use and begins another, and says so."""
    where = place(tmp_path)
    here = {"cwd": str(where.folder)}
    async with daemon(where, *TURNS) as one:
        first = await one.call("agent/session/open", here)
        await prompt(one, first["sessionId"], "hi")
        await settled(one, first["sessionId"])
        async with daemon(where, *TURNS) as two:
            second = await two.call("agent/session/open", here, 15)
            assert second["sessionId"] != first["sessionId"]
            codes = [notice["code"] for notice in second["state"]["warnings"]]
            assert codes == ["locked"]
            await prompt(two, second["sessionId"], "hi")
            await settled(two, second["sessionId"])
        await prompt(one, first["sessionId"], "hi again")
        await settled(one, first["sessionId"])
    files = list(where.agent_dir.glob("sessions/*/*.jsonl"))
    assert len(files) == 2


async def test_b076_a_folder_that_only_one_window_closes(tmp_path: Path) -> None:
    """The session is let go when the last window that has the folder open closes it."""
    where = place(tmp_path)
    here = {"uri": where.folder.as_uri(), "name": "work"}
    closes = {"event": {"added": [], "removed": [here]}}
    async with (
        house(where, {"text": "Hello."}, {"loop": True}) as join,
        join(HELLO, workspaceFolders=[here]) as one,
        join(HELLO, workspaceFolders=[here]) as two,
    ):
        session_id = (await one.call("agent/session/open"))["sessionId"]
        assert (await two.call("agent/session/open"))["sessionId"] == session_id
        one.notify("workspace/didChangeWorkspaceFolders", closes)
        await one.call("agent/session/list", {"workspace": here["uri"]})
        await prompt(two, session_id, "hi")
        await settled(two, session_id)
        two.notify("workspace/didChangeWorkspaceFolders", closes)
        closed = await two.until(lambda f: f.get("method") == "agent/sessions/changed")
        assert closed["params"] == {"reason": "closed", "sessionId": session_id}
