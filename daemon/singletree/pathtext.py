"""Paths that others wrote: settings, command lines, clients, session files.

What cannot be looked at (too long a name, a folder without leave) counts as not there: pathlib
raises then, and one odd path must not spoil everything beside it. What is read is plain and
bounded. Read next: tools/paths.py (what a model may write beside that).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

_IMPOSSIBLE = re.compile("[\x00\ud800-\udc7f\udd00-\udfff]")
"""NUL and half characters; the other halves stand for bytes of a name that is no UTF-8."""


MOST = 16 * 1024 * 1024
"""Bytes; no file that people write comes near."""

LONG = 1 << 30
"""Bytes of what programs write: sessions, scripts, answers."""

_PIECE = 1 << 20

NOT_PLAIN = "it is no plain file"
TOO_LARGE = "it is too large"


def at_home(text: str) -> Path:
    """A path with its `~` followed. What no path can be becomes one that is hardly there.

    A home of nobody's stays as it is written, so that a text like `~500 words` does no harm.
    """
    return Path(os.path.expanduser(_IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)))  # noqa: PTH111


def home() -> Path:
    """The person's home folder; where nothing names one, `/`, as in a container."""
    known = os.path.expanduser("~")  # noqa: PTH111
    return Path(known if known.startswith("/") else "/")


def is_file(path: str | Path) -> bool:
    """Whether a plain file is there."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there."""
    return os.path.isdir(path)  # noqa: PTH112


def is_there(path: str | Path) -> bool:
    """Whether anything is there."""
    return os.path.exists(path)  # noqa: PTH110


def read_plain(path: str | Path, most: int = MOST) -> bytes:
    """All of a plain file; an OSError for anything else, and for one that is larger than `most`.

    A pipe would hold its reader for ever, and a device, or a link to one, may have no end.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, NOT_PLAIN)
        data = bytearray()
        left = most - found.st_size
        while left >= 0 and (piece := os.read(handle, _PIECE)):
            data += piece
            left = most - len(data)
    finally:
        os.close(handle)
    if left < 0:
        raise OSError(errno.EFBIG, TOO_LARGE)
    return bytes(data)
