"""pi and the Node it needs, installed by npm into a cache folder.

`python -m tests.interop.install` does it with npm's own words on the screen. The cache is
$SINGLETREE_CACHE, or .cache/ beside the sources; what stands there already is taken as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NODE = "node@22"
PI = "@earendil-works/pi-coding-agent"
VERSION = "1.6.0"
NEEDS = "Node.js with npm"
MINUTES = 5


class Absent(Exception):
    """pi can't be had here; the text says what is needed."""


@dataclass(frozen=True)
class Installed:
    """Where the programs stand."""

    node: Path
    cli: Path

    @property
    def command(self) -> tuple[str, str]:
        """How pi is started."""
        return str(self.node), str(self.cli)


def installed(*, told: bool = False) -> Installed:
    """Install pi unless it is there. `told`: npm may write to the screen. Raises Absent."""
    folder = _cache() / f"pi-{VERSION}"
    found = _found(folder)
    if found is None:
        _install(folder, told)
        found = _found(folder)
    if found is None:
        raise Absent(f"{NEEDS}: what npm put into {folder} does not run")
    return found


def _cache() -> Path:
    named = os.environ.get("SINGLETREE_CACHE")
    return Path(named) if named else Path(__file__).parents[2] / ".cache"


def _found(folder: Path) -> Installed | None:
    package = folder / "node_modules" / PI
    node = folder / "node_modules" / ".bin" / "node"
    if not node.exists() or not (package / "package.json").is_file():
        return None
    told = json.loads((package / "package.json").read_text("utf-8"))
    if told["version"] != VERSION:
        return None
    return Installed(node, package / told["bin"]["pi"])


def _install(folder: Path, told: bool) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Absent(NEEDS)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier"]
    command = [npm, "install", *quiet, "--loglevel=error", NODE, f"{PI}@{VERSION}"]
    pipe = None if told else subprocess.PIPE
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            timeout=60 * MINUTES,
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"npm to install {PI}@{VERSION} within {MINUTES} minutes") from None
    if done.returncode:
        said = (done.stdout or b"").decode(errors="replace").strip().splitlines()
        raise Absent(f"npm to be able to install {PI}@{VERSION}: {said[0] if said else 'it fails'}")


if __name__ == "__main__":
    try:
        print(" ".join(installed(told=True).command))
    except Absent as missing:
        sys.exit(f"interop needs {missing}")
