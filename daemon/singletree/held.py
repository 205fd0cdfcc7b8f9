"""Files that several processes change: read, change and replace one while nobody else does.

Among our own processes the folder is locked, which the end of a process always undoes. pi locks a
file that it shares with us by a folder beside it, `<file>.lock`, which it keeps fresh; so do we.
Blocks: call it in a worker thread. Read next: private.py.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from singletree.private import make_private

STALE_SECONDS = 30.0
"""A lock of pi's that was not made fresh for so long was left by one that died."""
TRY_AGAIN_SECONDS = 0.02
BUSY = "another program is changing it"


@contextlib.contextmanager
def held(path: Path, *, stale: float = STALE_SECONDS) -> Iterator[None]:
    """A file that pi changes, too. OSError if it cannot be had, also after `stale` seconds."""
    with alone_in(path.parent):
        lock = path.with_name(f"{path.name}.lock")
        _take(lock, stale)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                lock.rmdir()


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A folder in which none of ours changes anything meanwhile; it is made where it is missing."""
    make_private(folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that knows no locks of folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _take(lock: Path, stale: float) -> None:
    until = time.monotonic() + stale + TRY_AGAIN_SECONDS
    while True:
        try:
            lock.mkdir(mode=0o700)
        except FileExistsError:
            if _is_stale(lock, stale):
                with contextlib.suppress(FileNotFoundError):
                    lock.rmdir()
            elif time.monotonic() > until:
                raise OSError(errno.EBUSY, BUSY, lock) from None
            else:
                time.sleep(TRY_AGAIN_SECONDS)
        else:
            return


def _is_stale(lock: Path, stale: float) -> bool:
    """Whether its holder is gone; a time that lies ahead is none."""
    try:
        return abs(time.time() - lock.stat().st_mtime) > stale
    except FileNotFoundError:
        return False
