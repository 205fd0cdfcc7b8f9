"""Folders of ours: for their owner's eyes only, and so are those above them that we had to make.

Blocks on the disk. Never changes what is there already. Read next: session/files.py (small files).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, for their owner only."""
    if not folder.is_dir():
        make_private(folder.parent)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:  # a file of somebody else's stands in its place
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
