"""Descriptors: files that stay open, folders whose new names must last.

A file is never one of the first three descriptors of the process: whoever writes to a closed stdout
would write into it. Read next: log.py, lock.py.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

FIRST_OF_OURS = 3


def open_above(path: Path, flags: int) -> int:
    """A descriptor of 3 or more, not inherited by children."""
    handle = os.open(path, flags | os.O_CLOEXEC, 0o600)
    if handle >= FIRST_OF_OURS:
        return handle
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, FIRST_OF_OURS)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut: a new file, or one that took a place."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
