"""Opens files that stay open, never as one of the first three descriptors of the process.

Whoever writes to a closed stdout would write into such a file. Read next: log.py, lock.py.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

FIRST_OF_OURS = 3


def open_above(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of 3 or more, not inherited by children."""
    handle = os.open(path, flags | os.O_CLOEXEC, mode)
    if handle >= FIRST_OF_OURS:
        return handle
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, FIRST_OF_OURS)
    finally:
        os.close(handle)
