"""The life of a serving process: what ends it, and with which exit code.

Ends are: `exit` (0 after `shutdown`, else 1), the end of stdin, a client that can't be written to,
SIGTERM (143), SIGINT (130), SIGHUP (129), and the parent named in `initialize` having gone. What
happens then is serve.py's business. Never knows a connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import stat
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

PARENT_POLL_SECONDS: Final = 2.0


class Life:
    """Waits for the end. `stop` may be called by anybody, more than once; the first code counts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[int] = self._loop.create_future()
        self._parent = Watch(lambda: self.stop(0))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                self._loop.add_signal_handler(number, self.stop, 128 + number)

    def stop(self, code: int) -> None:
        """End with this exit code."""
        if not self._end.done():
            self._end.set_result(code)

    async def ended(self) -> int:
        """Wait for the end: its exit code."""
        return await asyncio.shield(self._end)

    def watch_parent(self, pid: int | None) -> None:
        """End when this process does."""
        self._parent.watch(pid)

    def watch_pipe(self, fd: int) -> None:
        """End when nobody reads this pipe any more, even if there is nothing to write."""
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            with contextlib.suppress(OSError, NotImplementedError):
                self._loop.add_reader(fd, self._pipe_closed, fd)

    def _pipe_closed(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        self.stop(0)


class Watch:
    """Calls `gone` once when another process has ended. One that can't be seen is not watched."""

    def __init__(self, gone: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._gone = gone
        self._fd: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, pid: int | None) -> None:
        """Watch this process from now on."""
        if pid is None or pid <= 0:
            return
        try:
            self._fd = os.pidfd_open(pid)
        except ProcessLookupError:
            log.warning("the parent process %d can't be seen from here; it is not watched", pid)
        except (AttributeError, OSError, OverflowError):
            self._poll(pid)
        else:
            self._loop.add_reader(self._fd, self._ended)

    def close(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None

    def _ended(self) -> None:
        self.close()
        self._gone()

    def _poll(self, pid: int) -> None:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            self._gone()
            return
        except PermissionError:
            pass
        self._timer = self._loop.call_later(PARENT_POLL_SECONDS, self._poll, pid)
