"""Paths that others wrote: settings, command lines, clients, session files.

What cannot be looked at (too long a name, a folder without leave) counts as not there: pathlib
raises then, and one odd path must not spoil everything beside it. Read next: tools/paths.py (what a
model may write beside that).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_IMPOSSIBLE = re.compile("[\x00\ud800-\udc7f\udd00-\udfff]")
"""NUL and half characters; the other halves stand for bytes of a name that is no UTF-8."""


def at_home(text: str) -> Path:
    """A path with its `~` followed. What no path can be becomes one that is hardly there.

    A home of nobody's stays as it is written, so that a text like `~500 words` does no harm.
    """
    return Path(os.path.expanduser(_IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)))  # noqa: PTH111


def is_file(path: str | Path) -> bool:
    """Whether a plain file is there."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there."""
    return os.path.isdir(path)  # noqa: PTH112


def is_there(path: str | Path) -> bool:
    """Whether anything is there."""
    return os.path.exists(path)  # noqa: PTH110
