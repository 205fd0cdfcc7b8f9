"""The extension in the real VS Code: its types, its parts, and what a person sees and clicks.

The clicks themselves stand in vscode-extension/test/. With SHOTS=FOLDER in the environment they
leave pictures there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clients.vscode_install import EXTENSION, NEEDS, Installed, found
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found() is not None), pytest.mark.timeout(300)]

Run = Callable[..., None]


@pytest.fixture(scope="module")
def installed() -> Installed:
    """The programs; without them nothing here is collected."""
    there = found()
    assert there is not None
    return there


@pytest.fixture(scope="module")
def run(installed: Installed) -> Run:
    """Run a command in the extension's folder; what it says is shown where it fails."""

    def run(*command: str, **more: str) -> None:
        environment = {**installed.environment(), **more}
        done = subprocess.run(
            command, cwd=EXTENSION, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"

    return run


@pytest.fixture(scope="module")
def clicks(
    run: Run, installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], None]:
    """Pack the extension, put it into a VS Code, and play a file of clicks there."""
    place = tmp_path_factory.mktemp("vscode")
    extensions, config = place / "extensions", place / "config.yaml"
    config.write_text("")
    run("npm", "run", "package")
    where = ("--config", str(config), "--user-data-dir", str(place), "--extensions-dir")
    into = (*where, str(extensions), "--install-extension", "singletree.vsix")
    run(str(installed.code_server), *into, EXTENSIONS_GALLERY='{"serviceUrl":""}')
    daemon = Path(sys.executable).with_name("singletree")

    def play(name: str) -> None:
        test = f"test/clicks/{name}.test.ts"
        environment = {"EXTENSIONS": str(extensions), "SINGLETREE": str(daemon)}
        run(str(installed.node), "--no-warnings", "--test", test, **environment)

    return play


def test_types(run: Run) -> None:
    run("npm", "run", "check")


def test_parts_that_need_no_editor(run: Run) -> None:
    run("npm", "test")


def test_the_story(clicks: Callable[[str], None]) -> None:
    clicks("story")
