"""A real VS Code (code-server) with a browser, and what the extension is built with.

`python -m tests.clients.vscode_install` gets it (`make test` calls it); the tests only look whether
it is there. The cache is $SINGLETREE_CACHE, or .cache/ beside the sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VERSION = "4.139.1"
NODE = "node@24"
PACKAGES = ("chromium", "libkrb5-dev")
"""Of the system: the browser, and the headers one of code-server's add-ons is compiled against."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NEEDS = "VS Code and Chromium (python -m tests.clients.vscode_install, with npm and as root)"
MINUTES = 15
QUIET = ("--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier", "--loglevel=error")
EXTENSION = Path(__file__).parents[2] / "vscode-extension"


@dataclass(frozen=True)
class Installed:
    """Where the programs stand."""

    node: Path
    code_server: Path
    chromium: Path

    def environment(self) -> dict[str, str]:
        """For whatever runs with this Node and drives these programs."""
        return {
            **os.environ,
            "PATH": f"{self.node.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "NODE": str(self.node),
            "CODE_SERVER": str(self.code_server),
            "CHROMIUM": str(self.chromium),
        }


def found() -> Installed | None:
    """The programs, if all of them are there."""
    folder = cache()
    node = folder / "node" / "node_modules" / "node" / "bin" / "node"
    code_server = folder / "server" / "node_modules" / ".bin" / "code-server"
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    built = EXTENSION / "node_modules" / "playwright-core"
    whole = folder / ".installed"
    if chromium is None or not all(path.exists() for path in (whole, node, code_server, built)):
        return None
    return Installed(node, code_server, Path(chromium))


def main() -> str | None:
    """Install it unless it is there: nothing, or what is in the way."""
    if found():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "VS Code is not installed: that needs Node.js with npm"
    node, server = cache() / "node", cache() / "server"
    try:
        _system_packages()
        building = subprocess.Popen([npm, "install", *QUIET], cwd=EXTENSION)
        whole = _npm(npm, node, NODE, {})
        path = f"{node / 'node_modules' / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        whole &= _npm(npm, server, f"code-server@{VERSION}", {"PATH": path, **_headers()})
        building.wait(60 * MINUTES)
        if whole:
            (cache() / ".installed").touch()
    except subprocess.TimeoutExpired:
        return f"VS Code is not installed: npm took more than {MINUTES} minutes"
    return None if found() else "VS Code is not installed: see above for what failed"


def cache() -> Path:
    """Where all of it stands."""
    named = os.environ.get("SINGLETREE_CACHE")
    folder = Path(named) if named else Path(__file__).parents[2] / ".cache"
    return folder / f"code-server-{VERSION}"


def _system_packages() -> None:
    """With apt, if somebody with the right to do so is asking."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["update", "-qq"],
        ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES],
    ):
        done = subprocess.run(["apt-get", *command], env=quiet, capture_output=True, text=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)


def _npm(npm: str, folder: Path, package: str, more: Mapping[str, str]) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    command = [npm, "install", *QUIET, package]
    environment = {**os.environ, **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=60 * MINUTES
    )
    return done.returncode == 0


def _headers() -> dict[str, str]:
    """Add-ons are compiled against the headers of the Node that is installed: none are fetched."""
    node = shutil.which("node")
    prefix = Path(node).resolve().parents[1] if node else Path("/usr")
    there = (prefix / "include" / "node" / "node.h").exists()
    return {"JOBS": "max", **({"npm_config_nodedir": str(prefix)} if there else {})}


if __name__ == "__main__":
    sys.exit(main())
