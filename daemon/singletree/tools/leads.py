"""Where the paths of calls led when they were allowed, and whether what is opened still lies there.

Between a yes and the deed a command may turn a link. What was opened is asked where it lies, not
its path once more. Never knows who allowed what. Read next: disk.py and search.py (who ask before
they read or write), ../session/permission/gate.py (who notes).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from singletree.errors import ToolError
from singletree.tools.looks import shown_name

TURNED = (
    "{path} leads elsewhere than when this call was allowed: a link on the way was changed."
    " Nothing was done. Call it again, and it is judged anew."
)
REMEMBERED = 1000
_GONE = " (deleted)"


class Turned(ToolError):
    """A path leads elsewhere than when it was allowed."""


class Leads:
    """The newest paths that were allowed, each with its real place. Others may lead anywhere."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def allow(self, paths: Iterable[tuple[Path, str]]) -> None:
        """These paths may lead to these real places, as they do now."""
        for path, real in paths:
            self._known.pop(path, None)
            self._known[path] = real
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def check(self, path: Path, real: str) -> None:
        """A ToolError if a path was allowed that led elsewhere than to `real`."""
        if self._known.get(path, real) != real:
            raise Turned(TURNED.format(path=shown_name(path)))

    def open(self, path: Path) -> int:
        """A handle on what is there; a ToolError if that lies elsewhere than it was allowed."""
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.check_open(path, handle)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def check_open(self, path: Path, handle: int) -> None:
        """The same for what was opened by that path."""
        if path in self._known:
            self.check(path, place_of(handle, path))


def place_of(handle: int, path: Path) -> str:
    """Where an open file or folder really lies, as far as the system tells."""
    try:
        place = os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115
    except OSError:
        place = _GONE
    return os.path.realpath(path) if place.endswith(_GONE) else place
