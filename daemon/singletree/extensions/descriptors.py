"""The first three descriptors of the process, put back where an extension has closed one.

The next file to be opened would take its place, and whatever is printed would land in that file.
Never knows where they lead. Read next: runner.py (who looks after each extension).
"""

from __future__ import annotations

import fcntl
import os

_FIRST = (0, 1, 2)
_HIGH = 10

_kept: dict[int, int] = {}


def keep() -> None:
    """Keep copies, once, before the first extension is loaded."""
    for descriptor in _FIRST:
        if descriptor not in _kept and _is_open(descriptor):
            _kept[descriptor] = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)


def mend() -> None:
    """Put back what was closed."""
    for descriptor, copy in _kept.items():
        if not _is_open(descriptor):
            os.dup2(copy, descriptor)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
