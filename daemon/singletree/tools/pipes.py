"""Pipes in the place of ignore files: ripgrep opens them, and waits for a writer for ever.

Where a search is silent, the other end of such a pipe is opened and closed, so that it reads as an
empty file; where somebody else holds it open, that is told. Never writes anything. Read
next: ripgrep.py, ignore.py (which opens none).
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import anyio
import anyio.to_thread

from singletree.pathtext import home
from singletree.tools.find import walk
from singletree.tools.ignore import GIT, IGNORE_FILES, ignore_around

SILENCE = 1.0
"""Seconds without a word after which pipes are looked for."""

AGAIN = 0.05
"""Seconds until it is looked again where somebody waited: the next pipe may be near."""

PATIENCE = 20
"""Times that a pipe is closed again before it is given up."""

_NAMES = (*IGNORE_FILES, ".rgignore", f"{GIT}/info/exclude")
_PERSONAL = (".gitconfig", ".config/git/config", ".config/git/ignore")


async def answer_pipes(
    folder: Path, heard: Callable[[], float], give_up: Callable[[Path], None]
) -> None:
    """Go on until cancelled. `heard`: when the search, of this folder, last said something.

    `give_up` is told of a pipe that will not end.
    """
    pause = SILENCE
    answered: Counter[Path] = Counter()
    while True:
        await anyio.sleep(pause)
        begun = time.monotonic()
        if begun - heard() < SILENCE:
            continue
        stop = threading.Event()
        try:
            found = await anyio.to_thread.run_sync(_answer, folder, stop, abandon_on_cancel=True)
        finally:
            stop.set()
        answered.update(found)
        if endless := next((path for path in found if answered[path] > PATIENCE), None):
            give_up(endless)
            return
        pause = AGAIN if found else SILENCE + time.monotonic() - begun


def _answer(folder: Path, stop: threading.Event) -> list[Path]:
    """The pipes at which somebody waited."""
    root = str(folder).rstrip("/")
    inside = (path for path in walk(root, ignore_around(root, home()), stop) if path[-1] == "/")
    places = chain(map(str, (folder, *folder.parents)), inside)
    candidates = chain((home() / name for name in _PERSONAL), _ignore_files(places))
    return [path for path in candidates if _let_go(path)]


def _ignore_files(folders: Iterable[str]) -> Iterator[Path]:
    for folder in folders:
        yield from (Path(folder, name) for name in _NAMES)


def _let_go(path: Path) -> bool:
    """Let whoever waits at this pipe read its end; False if nobody does."""
    try:
        if not stat.S_ISFIFO(os.stat(path).st_mode):  # noqa: PTH116
            return False
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True
