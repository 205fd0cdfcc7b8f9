"""pi and the Node it needs, installed by npm into a cache folder.

`python -m tests.interop.install` does it (`make interop` and `make test` call it); the tests only
look whether it is there. The cache is $SINGLETREE_CACHE, or .cache/ beside the sources.
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
NEEDS = f"pi {VERSION}, which npm installs (make interop)"
MINUTES = 5


@dataclass(frozen=True)
class Installed:
    """Where the programs stand."""

    node: Path
    cli: Path

    @property
    def command(self) -> tuple[str, str]:
        """How pi is started."""
        return str(self.node), str(self.cli)


def found() -> Installed | None:
    """Where pi stands in the cache, if it does."""
    folder = _folder()
    package = folder / "node_modules" / PI
    node = folder / "node_modules" / ".bin" / "node"
    if not node.exists() or not (package / "package.json").is_file():
        return None
    told = json.loads((package / "package.json").read_text("utf-8"))
    if told["version"] != VERSION:
        return None
    return Installed(node, package / told["bin"]["pi"])


def _folder() -> Path:
    named = os.environ.get("SINGLETREE_CACHE")
    cache = Path(named) if named else Path(__file__).parents[2] / ".cache"
    return cache / f"pi-{VERSION}"


def main() -> str | None:
    """Install it unless it is there: nothing, or what is in the way."""
    if found():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "pi is not installed: that needs Node.js with npm"
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier"]
    command = [npm, "install", *quiet, "--loglevel=error", NODE, f"{PI}@{VERSION}"]
    try:
        subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        return f"pi is not installed: npm took more than {MINUTES} minutes"
    return None if found() else f"pi is not installed: what npm put into {folder} does not run"


if __name__ == "__main__":
    sys.exit(main())
