"""What becomes of a command's output: cleaned, shown live, its tail kept, the whole in a file.

The file appears only when the whole is too long to be shown; it is readable by its user alone,
bounded, and written in a worker thread. Never runs anything. Read next: clean.py, truncate.py.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

import anyio

from singletree.private import make_private
from singletree.tools.accumulator import Accumulator
from singletree.tools.clean import Cleaner
from singletree.tools.truncate import Cut, notice

FULL_COPY = "{path} (read it in parts, or search it with grep)"
FULL_COPY_CUT = "{path} (its first {size} MiB; the rest was not kept)"
NOT_SAVED = "it could not be saved ({reason})"
SKIPPED = "\n[… {count} characters not shown while it runs …]\n"

MAX_FILE = 64 * 1024 * 1024
MAX_LIVE = 16_384
_PREFIX, _SUFFIX = "singletree-", ".log"


class Output:
    """Takes the bytes of a command as they come; whoever feeds it calls `save` now and then.

    `folder` is where the whole of a long output is written (None: the machine's temporary folder).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._cleaner = Cleaner()
        self._kept = Accumulator()
        self._file = _Spill(folder)
        self._unsent = ""
        self._sent = ""
        self._skipped = 0

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._take(self._cleaner.feed(data))

    async def save(self) -> None:
        """Write what came, once it is too long to be shown whole."""
        if self._kept.overflowed and self._file.waiting:
            await anyio.to_thread.run_sync(self._file.write)

    async def close(self) -> None:
        """Nothing more comes."""
        self._take(self._cleaner.close())
        with anyio.CancelScope(shield=True):
            await self.save()
            await anyio.to_thread.run_sync(self._file.close)

    def live(self) -> str:
        """Text to append to what was shown so far. A line shown half may begin anew."""
        now = self._unsent + self._cleaner.pending
        skipped, self._skipped = self._skipped, 0
        if skipped or not now.startswith(self._sent):
            new = ("\n" if self._sent else "") + now
        else:
            new = now[len(self._sent) :]
        self._unsent, self._sent = "", self._cleaner.pending
        if skipped or len(new) > MAX_LIVE:
            count = skipped + max(0, len(new) - MAX_LIVE)
            return SKIPPED.format(count=count) + new[-MAX_LIVE:]
        return new

    def cut(self) -> Cut:
        """What may be shown of it."""
        return self._kept.cut()

    @property
    def path(self) -> Path | None:
        """Where the whole is, if it is too long to be shown and could be saved."""
        return self._file.path

    def notice(self) -> str:
        """The line for the model about what is missing; "" if nothing is."""
        if self._file.failed:
            return notice(self.cut(), NOT_SAVED.format(reason=self._file.failed))
        form = FULL_COPY_CUT if self._file.full else FULL_COPY
        return notice(self.cut(), form.format(path=self._file.path, size=MAX_FILE // 2**20))

    def _take(self, text: str) -> None:
        if not text:
            return
        self._kept.add(text)
        self._file.add(text)
        self._unsent += text
        if len(self._unsent) > 4 * MAX_LIVE:
            self._skipped += len(self._unsent) - MAX_LIVE
            self._unsent = self._unsent[-MAX_LIVE:]


class _Spill:
    """The file of a long output. A failure is noted, never raised: the command goes on."""

    def __init__(self, folder: Path | None) -> None:
        self.waiting: list[bytes] = []
        self.failed = ""
        self.full = False
        self.path: Path | None = None
        self._folder = folder
        self._room = MAX_FILE
        self._file: BinaryIO | None = None

    def add(self, text: str) -> None:
        """Keep text until it is written."""
        if self.failed or self.full:
            return
        data = text.encode()
        piece = data[: self._room]
        self.full = len(piece) < len(data)
        self._room -= len(piece)
        self.waiting.append(piece)

    def write(self) -> None:
        """Write what was kept. In a worker thread, while more may be added."""
        waiting, self.waiting = self.waiting, []
        try:
            if self._file is None:
                self._file = self._made()
            self._file.writelines(waiting)
            self._file.flush()
        except OSError as error:
            self.failed = error.strerror or str(error)
            self.waiting.clear()
            self._remove()

    def close(self) -> None:
        """The file is whole."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()

    def _made(self) -> BinaryIO:
        if self._folder is not None:
            make_private(self._folder)
        handle, name = tempfile.mkstemp(_SUFFIX, _PREFIX, self._folder)
        self.path = Path(name)
        return os.fdopen(handle, "wb")

    def _remove(self) -> None:
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


def prune(folder: Path, *, days: float = 14) -> int:
    """Remove outputs nobody wrote to for so many days; returns how many. Blocks: worker thread."""
    removed = 0
    oldest = time.time() - days * 86_400
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()
                removed += 1
    return removed
