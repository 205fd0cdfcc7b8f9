"""Microsoft's language client for Node, installed by npm into a cache folder.

`python -m tests.clients.node_install` does it (`make test` calls it); the tests only look whether
it is there. The cache is $SINGLETREE_CACHE, or .cache/ beside the sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "3.18.5"
PACKAGES = (
    f"vscode-languageserver-protocol@{VERSION}",
    "vscode-languageserver-textdocument@1.0.12",
)
NEEDS = f"Node.js with npm, and {PACKAGES[0]} (python -m tests.clients.node_install)"
MINUTES = 5


def folder() -> Path:
    """Where it stands, or would."""
    named = os.environ.get("SINGLETREE_CACHE")
    cache = Path(named) if named else Path(__file__).parents[2] / ".cache"
    return cache / f"languageserver-{VERSION}"


def found() -> bool:
    """Whether all of it is there."""
    modules = folder() / "node_modules"
    names = [package.rpartition("@")[0] for package in PACKAGES]
    there = all((modules / name / "package.json").is_file() for name in names)
    return there and shutil.which("node") is not None


def main() -> str | None:
    """Install it unless it is there: nothing, or what is in the way."""
    if found():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "The language client for Node is not installed: there is no npm"
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / "package.json").write_text('{"private": true}\n')
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier"]
    command = [npm, "install", *quiet, "--loglevel=error", *PACKAGES]
    try:
        subprocess.run(command, cwd=folder(), stdin=subprocess.DEVNULL, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        return f"The language client for Node is not installed: npm took over {MINUTES} minutes"
    return (
        None if found() else f"The language client is not installed: npm could not get {PACKAGES}"
    )


if __name__ == "__main__":
    sys.exit(main())
