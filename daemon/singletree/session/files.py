"""Small files of ours: put in place whole, kept private, put aside where they cannot be read.

Everything here blocks on the disk: call it in a worker thread. Never knows what a file says. Read
next: settings/file.py, turn/queue.py, permission/rules.py, which keep theirs so.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from singletree.history.handles import sync_folder
from singletree.messages import well_formed
from singletree.private import make_private, put_whole


def replace_file(path: Path, text: str) -> None:
    """Put a whole text in the place of a file (of the file a link points to), safely.

    It survives a power cut once this returns. Half characters are replaced.
    """
    target = path.resolve()
    make_private(target.parent)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    with put_whole(target) as file:
        os.fchmod(file.fileno(), mode)
        file.write(well_formed(text).encode())
        file.flush()
        os.fsync(file.fileno())
    sync_folder(target.parent)


def put_aside(path: Path) -> None:
    """Move away what stands in the place of a file of ours, so that nothing is written over it."""
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged-{time.time_ns()}"))
