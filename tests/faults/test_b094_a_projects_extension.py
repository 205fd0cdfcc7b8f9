"""A project's extension in the real daemon: not before a yes, and not when its code has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, daemon, opened, place, prompt, settled

from singletree.session.settings.trust import save_trust

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def repository(tmp_path: Path) -> tuple[Place, Path, Path]:
    where, mark = place(tmp_path), tmp_path / "P"
    folder = where.folder / ".pi" / "extensions"
    folder.mkdir(parents=True)
    extension = folder / "hook.py"
    extension.write_text(
        f"open({str(mark)!r}, 'a').close()\n"
        "from singletree.extensions.api import BeforeAgentStart\n"
        "def setup(api):\n"
        f"    api.on(BeforeAgentStart, lambda given: open({str(mark)!r}, 'a').close())\n",
        "utf-8",
    )
    (where.folder / ".env").write_text("Z=9\n")
    return where, extension, mark


async def lived(where: Place) -> Any:
    """A whole life of the daemon with one turn: the state it told at first."""
    async with daemon(where, {"text": "ok"}) as client:
        given = {"cwd": str(where.folder)}
        state = (await client.call("agent/session/open", given))["state"]
        session_id = await opened(client, where)
        await prompt(client, session_id, "hi")
        await settled(client, session_id)
    return state


async def test_b094_a_projects_extension(tmp_path: Path) -> None:
    where, extension, mark = repository(tmp_path)
    state = await lived(where)
    assert not mark.exists()
    assert state["trusted"] is False
    assert [(s["kind"], s["path"]) for s in state["skipped"]] == [
        ("extensions", str(extension.parent))
    ]

    save_trust(where.agent_dir, where.folder, True)
    assert (await lived(where))["trusted"] is True
    assert mark.exists()

    mark.unlink()
    extension.write_text(extension.read_text("utf-8") + "# one byte more", "utf-8")
    state = await lived(where)
    assert state["trusted"] is False
    assert not mark.exists()


async def test_b094_an_extension_that_settings_name_is_under_the_seal(tmp_path: Path) -> None:
    where, extension, mark = repository(tmp_path)
    tool = where.folder / "tools" / "hook.py"
    tool.parent.mkdir()
    extension.rename(tool)
    (where.folder / ".pi" / "settings.json").write_text('{"extensions": ["tools/hook.py"]}')
    await lived(where)
    assert not mark.exists()
    save_trust(where.agent_dir, where.folder, True)
    await lived(where)
    assert mark.exists()
    mark.unlink()
    tool.write_text(tool.read_text("utf-8") + "# one byte more", "utf-8")
    assert (await lived(where))["trusted"] is False
    assert not mark.exists()
