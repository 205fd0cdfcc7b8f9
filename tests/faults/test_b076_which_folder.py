"""Several folders, none, one more and one less: work is done in the one that was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.provider import MODEL, asked, bash, provided, says
from tests.daemon.real import events, place, prompt, settled, tells, text, until
from tests.daemon.shared import EITHER, Serving
from tests.model.fake_server import Reply, Seen
from tests.rpc.client import Failed, RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

YES = ("--mode", "allowAll")


def folders(*paths: Path) -> list[dict[str, str]]:
    return [{"uri": path.as_uri(), "name": path.name} for path in paths]


def roots(tmp_path: Path, *names: str) -> list[Path]:
    made = [tmp_path / name for name in names]
    for path in made:
        path.mkdir()
    return made


def answers(seen: Seen) -> Reply:
    words = asked(seen)[-1]
    return Reply([says("done") if words.startswith("tool:") else bash(words.split(": ", 1)[1])])


async def run(client: RawClient, command: str, **where: str) -> str:
    """Say a command: what it printed."""
    start = len(client.frames)
    await client.call("agent/prompt", {"content": text(command), **where}, 30)
    await client.until(tells("settled"), 30, start=start)
    done = [e for e in events(client, "tool") if e["status"] == "completed"][-1]
    return str(done["result"]["content"][0]["text"]).strip()


@EITHER
async def test_b076_two_folders(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    a, b = roots(tmp_path, "a", "b b")
    (b / "lib").mkdir()
    (b / "lib" / "x.py").write_text("only here\n")
    async with (
        provided(where, answers) as fp,
        daemon(where, model=MODEL, arguments=YES, folders=folders(a, b)) as client,
    ):
        with pytest.raises(Failed) as unnamed:
            await prompt(client, None, "pwd")
        assert unnamed.value.data["code"] == "no_workspace"
        assert f"Several folders are open ({a.as_uri()}, {b.as_uri()})" in str(unnamed.value)
        assert await run(client, "pwd", workspace=b.as_uri()) == str(b)
        assert await run(client, "cat lib/x.py", workspace=b.as_uri()) == "only here"
        assert await run(client, "pwd", workspace=a.as_uri()) == str(a)
        mention: Any = {"type": "fileMention", "uri": (b / "lib" / "x.py").as_uri()}
        asking = {"workspace": b.as_uri(), "content": [*text("pwd"), mention]}
        await client.call("agent/prompt", asking)
        state = await client.call("agent/session/state", {"workspace": b.as_uri()})
        await settled(client, state["sessionId"])
        assert state["cwd"] == str(b)
        assert any(str(b / "lib" / "x.py") in line for line in asked(fp.seen[-1]))


@EITHER
async def test_b076_no_folder(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    async with (
        provided(where, answers),
        daemon(where, model=MODEL, arguments=YES, folders=None) as client,
    ):
        for method in ("session/open", "session/new", "session/state", "prompt"):
            with pytest.raises(Failed) as none:
                await client.call(f"agent/{method}", {"content": text("pwd")})
            assert none.value.data["code"] == "no_workspace"
        await client.call("agent/session/open", {"cwd": str(where.folder)})
        assert await run(client, "pwd") == str(where.folder)


@EITHER
async def test_b076_one_more_and_one_less(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    a, b, c = roots(tmp_path, "a", "b", "c")
    async with (
        provided(where, answers),
        daemon(where, model=MODEL, arguments=YES, folders=folders(a, b)) as client,
    ):
        await client.call("agent/prompt", {"workspace": str(a), "content": text("sleep 1; pwd")})
        await until(client, "tool", "running")
        first = await client.call("agent/session/state", {"workspace": str(a)})
        change = {"event": {"added": folders(c), "removed": folders(a)}}
        client.notify("workspace/didChangeWorkspaceFolders", change)
        assert await run(client, "pwd", workspace=c.as_uri()) == str(c)
        await until(client, "tool", "completed", 2)
        closed = await client.until(lambda f: f.get("method") == "agent/sessions/changed", 30)
        assert closed["params"] == {"reason": "closed", "sessionId": first["sessionId"]}
        ends = [e["reason"] for e in events(client, "turn_ended")]
        assert ends == ["end_turn", "end_turn"]
        with pytest.raises(Failed) as lost:
            await client.call("agent/session/state", {"sessionId": first["sessionId"]})
        assert lost.value.data["code"] == "session_not_found"
        locks = {p.name for p in (where.agent_dir / "singletree" / "locks").iterdir()}
        assert first["sessionId"] not in locks


@EITHER
async def test_b076_one_folder_under_two_names(tmp_path: Path, daemon: Serving) -> None:
    where = place(tmp_path)
    (real,) = roots(tmp_path, "real")
    link = tmp_path / "link"
    link.symlink_to(real)
    async with (
        provided(where, answers),
        daemon(where, model=MODEL, arguments=YES, folders=folders(real, link)) as client,
    ):
        one = await client.call("agent/session/open", {"workspace": real.as_uri()})
        for named in (link.as_uri(), f"{real}/", f"{real}/../real"):
            two = await client.call("agent/session/open", {"workspace": named})
            assert two["sessionId"] == one["sessionId"]
        await client.call("agent/session/close", {"sessionId": one["sessionId"]})
        again = await client.call("agent/session/open", {"workspace": f"{real}/../real/"})
        assert again["state"]["cwd"] == str(real)
