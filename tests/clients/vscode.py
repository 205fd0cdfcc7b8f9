"""The extension packed and put into a real VS Code, once for all tests; its own tests, run there.

The clicks stand in vscode-extension/test/clicks. With SHOTS=FOLDER in the environment they leave
pictures there, in the theme that THEME names. Read next: vscode_install.py.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.clients import vscode_install
from tests.clients.vscode_install import EXTENSION

SECONDS = 280
"""How long a command may take: less than a test, so that it is seen how far it came."""
DAEMON = Path(sys.executable).with_name("singletree")


def run(*command: str, **more: str) -> None:
    """Run a command in the extension's folder; what it says is shown where it fails."""
    there = vscode_install.found()
    assert there is not None
    environment = {**there.environment(), **more}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=EXTENSION, env=environment, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        said.seek(0)
        assert code == 0, f"{' '.join(command)} ended with {code}\n{said.read().decode()}"


def play(name: str) -> None:
    """Play a file of clicks in a VS Code of its own."""
    environment = {"EXTENSIONS": str(packed()), "SINGLETREE": str(DAEMON)}
    run("node", "--no-warnings", "--test", f"test/clicks/{name}.test.ts", **environment)


@cache
def packed() -> Path:
    """The folder into which the packed extension was unpacked by VS Code itself."""
    there = vscode_install.found()
    assert there is not None
    place = vscode_install.cache() / "packed"
    shutil.rmtree(place, ignore_errors=True)
    extensions, config = place / "extensions", place / "config.yaml"
    place.mkdir(parents=True)
    config.write_text("")
    run("npm", "run", "package")
    run("node", "esbuild.mjs", "--test")
    where = ("--config", str(config), "--user-data-dir", str(place / "data"))
    into = ("--extensions-dir", str(extensions), "--install-extension", "singletree.vsix")
    run(str(there.code_server), *where, *into, EXTENSIONS_GALLERY='{"serviceUrl":""}')
    return extensions
