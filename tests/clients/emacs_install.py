"""Emacs with Eglot and lsp-mode, from Debian's packages.

`python -m tests.clients.emacs_install` installs them where that can be done (`make test` calls it);
the tests only look whether they are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("emacs-nox", "elpa-eglot", "elpa-lsp-mode")
NEEDS = f"the packages {', '.join(PACKAGES)} (as root: python -m tests.clients.emacs_install)"
MINUTES = 5
ELPA = Path("/usr/share/emacs/site-lisp/elpa")


def found() -> bool:
    """Whether all of it is there."""
    clients = [list(ELPA.glob(name)) for name in ("eglot-*", "lsp-mode-*")]
    return shutil.which("emacs") is not None and all(clients)


def main() -> str | None:
    """Install it unless it is there: nothing, or what is in the way."""
    if found():
        return None
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return "Emacs is not installed: that needs apt-get and root"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "--no-install-recommends", *PACKAGES]
    try:
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                timeout=60 * MINUTES,
            )
    except subprocess.TimeoutExpired:
        return f"Emacs is not installed: apt-get took more than {MINUTES} minutes"
    return None if found() else f"Emacs is not installed: apt-get could not get {PACKAGES}"


if __name__ == "__main__":
    sys.exit(main())
