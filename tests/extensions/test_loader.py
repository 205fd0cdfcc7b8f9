"""Where extensions are found, which are loaded, and what loading leaves behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio.to_thread
import pytest

from singletree.extensions.api import Input, SessionShutdown
from singletree.extensions.loader import Found, Loaded, find_extensions, load_extensions
from singletree.extensions.modules import PREFIX
from singletree.extensions.runner import Extensions

SHOUT = """
from singletree.extensions.api import Input
loads = []
def setup(api):
    loads.append(1)
    api.on(Input, lambda given: given.but(text=given.text.upper() + str(len(loads))))
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def ours() -> list[str]:
    return [name for name in sys.modules if name.startswith(PREFIX)]


async def leave(loaded: Loaded) -> None:
    await Extensions(loaded.extensions).close(SessionShutdown("quit"))


async def load(agent_dir: Path, workspace: Path | None = None, *, trusted: bool = True) -> Loaded:
    found = await anyio.to_thread.run_sync(find_extensions, agent_dir, workspace)
    return await load_extensions(found, trusted=trusted)


def test_what_counts_as_an_extension(tmp_path: Path) -> None:
    write(
        tmp_path / "extensions",
        {
            "b.py": "",
            "a.py": "",
            "package/__init__.py": "",
            "folder/notes.txt": "",
            "theirs.ts": "",
            "_helper.py": "",
            ".hidden.py": "",
            "__pycache__/x.pyc": "",
        },
    )
    write(tmp_path / "w" / ".pi" / "extensions", {"c.py": ""})
    found = find_extensions(tmp_path, tmp_path / "w", ["more/d.py"], ["tools/e.py"])
    assert [(f.name, f.scope) for f in found] == [
        ("a", "user"),
        ("b", "user"),
        ("package", "user"),
        ("d", "user"),
        ("c", "workspace"),
        ("e", "workspace"),
    ]
    assert [f.path for f in found[3::2]] == [tmp_path / "more/d.py", tmp_path / "w/tools/e.py"]
    assert find_extensions(tmp_path / "nowhere", tmp_path / "nowhere") == []


async def test_an_extension_is_loaded_and_heard(tmp_path: Path) -> None:
    write(tmp_path / "extensions", {"shout.py": SHOUT})
    extensions = Extensions((await load(tmp_path)).extensions)
    assert (await extensions.fire(Input("a"))).payload.text == "A1"
    await extensions.close(SessionShutdown("quit"))
    assert ours() == []


async def test_one_that_hangs_while_it_loads_is_left_out(tmp_path: Path) -> None:
    slow = "import anyio\nasync def setup(api):\n    await anyio.sleep(60)\n"
    stuck = f"with open({str(tmp_path / 'pipe')!r}) as pipe:\n    pipe.read()\n"
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path / "extensions", {"shout.py": SHOUT, "slow.py": slow, "stuck.py": stuck})
    found = await anyio.to_thread.run_sync(find_extensions, tmp_path)
    loaded = await load_extensions(found, trusted=True, limit=0.2)
    os.close(os.open(tmp_path / "pipe", os.O_WRONLY))  # let the thread go
    assert [api.name for api in loaded.extensions] == ["shout"]
    assert [(one.extension, one.message.rpartition(": ")[2]) for one in loaded.problems] == [
        ("slow", "gave no answer within 0.2 s"),
        ("stuck", "gave no answer within 0.2 s"),
    ]
    await leave(loaded)


async def test_each_session_has_modules_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "extensions", {"shout.py": SHOUT})
    one, two = await load(tmp_path), await load(tmp_path)
    for loaded in (one, two):
        assert (await Extensions(loaded.extensions).fire(Input("a"))).payload.text == "A1"
    for loaded in (one, two):
        await leave(loaded)
    assert ours() == []


async def test_a_folder_brings_modules_of_its_own(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "extensions",
        {
            "pack/__init__.py": (
                "from singletree.extensions.api import Input\n"
                "from .words import LOUD\n"
                "from .deep.more import MARK\n"
                "async def setup(api):\n"
                "    api.on(Input, lambda given: given.but(text=LOUD[given.text] + MARK))\n"
            ),
            "pack/words.py": "LOUD = {'a': 'A'}",
            "pack/deep/__init__.py": "",
            "pack/deep/more.py": "MARK = '!'",
        },
    )
    loaded = await load(tmp_path)
    assert loaded.problems == ()
    assert (await Extensions(loaded.extensions).fire(Input("a"))).payload.text == "A!"
    assert not any(path.name == "__pycache__" for path in folder.rglob("*"))
    await leave(loaded)
    assert ours() == []


async def test_a_change_counts_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "extensions", {"shout.py": SHOUT})
    await leave(await load(tmp_path))
    write(folder, {"shout.py": SHOUT.replace("upper", "lower")})
    loaded = await load(tmp_path)
    assert (await Extensions(loaded.extensions).fire(Input("B"))).payload.text == "b1"
    await leave(loaded)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def setup(api:", "SyntaxError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("x = 1", "it has no function `setup(api)`"),
        ("def setup(api): raise KeyError('k')", "KeyError: 'k'"),
    ],
)
async def test_an_extension_that_does_not_load_is_told_and_left_out(
    tmp_path: Path, text: str, why: str
) -> None:
    write(tmp_path / "extensions", {"a_bad.py": text, "b_good.py": SHOUT})
    loaded = await load(tmp_path)
    assert [extension.name for extension in loaded.extensions] == ["b_good"]
    assert [p.extension for p in loaded.problems] == ["a_bad"]
    assert why in loaded.problems[0].message
    assert str(tmp_path / "extensions" / "a_bad.py") in loaded.problems[0].message
    await leave(loaded)
    assert ours() == []


async def test_an_extension_that_is_not_there_is_told(tmp_path: Path) -> None:
    found = [Found("gone", tmp_path / "gone.py", "user")]
    loaded = await load_extensions(found, trusted=True)
    assert "gone.py" in loaded.problems[0].message


async def test_a_workspace_loads_nothing_until_it_is_trusted(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"import pathlib\npathlib.Path({str(mark)!r}).write_text('ran')\ndef setup(api): pass"
    write(tmp_path / "w" / ".pi" / "extensions", {"evil.py": text})
    loaded = await load(tmp_path, tmp_path / "w", trusted=False)
    assert loaded.extensions == ()
    assert loaded.skipped == (tmp_path / "w" / ".pi" / "extensions" / "evil.py",)
    assert not mark.exists()
    loaded = await load(tmp_path, tmp_path / "w", trusted=True)
    assert [extension.name for extension in loaded.extensions] == ["evil"]
    assert mark.exists()
    await leave(loaded)
