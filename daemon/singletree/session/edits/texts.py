"""Texts of files from before an edit, each once, under its hash.

Everything here blocks on the disk: call it in a worker thread. Never knows whose a text is. Read
next: ledger.py.
"""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path

from singletree.history.handles import sync_folder
from singletree.private import make_private, put_whole
from singletree.session.edits.edit import digest

DAMAGED = "the text that was kept is damaged"


def keep_text(folder: Path, data: bytes) -> None:
    """Have a text on the disk; it survives a power cut once this returns."""
    make_private(folder)
    path = folder / digest(data)
    if path.exists():
        return
    with put_whole(path) as file:
        file.write(zlib.compress(data, 1))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def kept_text(folder: Path, of: str) -> bytes:
    """The text with this hash. OSError where it was not kept, or is another by now."""
    try:
        data = zlib.decompress((folder / of).read_bytes())
    except zlib.error as error:
        raise OSError(errno.EIO, DAMAGED) from error
    if digest(data) != of:
        raise OSError(errno.EIO, DAMAGED)
    return data
