"""What is for its owner's eyes only: folders of ours, and files that are put in place whole.

Blocks on the disk. Read next: session/files.py (small files).
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def make_private(folder: Path) -> None:
    """Make a folder and those above it, where they are missing, for their owner only."""
    if not folder.is_dir():
        make_private(folder.parent)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:  # a file of somebody else's stands in its place
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None


@contextlib.contextmanager
def put_whole(path: Path) -> Iterator[BinaryIO]:
    """What is written in the block is the file when the block ends; if it fails, nothing is."""
    part = path.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, flags, 0o600), "wb") as out:
            yield out
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
