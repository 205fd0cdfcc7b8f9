"""Waiting before a failed attempt is made again: told to the client, ended by an abort at once.

Never decides whether to wait; recovery.py does. Read next: runner.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import anyio

from singletree.agent.events import RunEnded
from singletree.errors import SingletreeError
from singletree.session.events import ErrorInfo, Phase, RetryChanged, SessionEvent
from singletree.session.state import error_info
from singletree.session.turn.recovery import Retry


class Retries:
    """The retries of one session's turns."""

    def __init__(
        self, phase: Callable[[Phase], None], emit: Callable[[SessionEvent], None]
    ) -> None:
        self._phase = phase
        self._emit = emit
        self._scope: anyio.CancelScope | None = None
        self._open: Retry | None = None

    @property
    def waiting(self) -> bool:
        """Whether an attempt is waited for."""
        return self._scope is not None

    def cancel(self) -> None:
        """Do not try again: the turn ends with the failure it had."""
        if self._scope is not None:
            self._scope.cancel()

    async def wait(self, retry: Retry, ended: RunEnded) -> None:
        """Wait for the next attempt. Raises the run's own error when the wait is cancelled."""
        error = ended.error or SingletreeError("The attempt failed.")
        self._open = retry
        self._phase("retrying")
        self._tell(retry, "waiting", error_info(error))
        try:
            with anyio.CancelScope() as self._scope:
                await anyio.sleep(retry.delay)
                self._tell(retry, "retrying")
                return
            self._open = None
            self._tell(retry, "cancelled", error_info(error))
            raise error
        except anyio.get_cancelled_exc_class():
            self._open = None
            self._tell(retry, "cancelled", error_info(error))
            raise
        finally:
            self._scope = None
            self._phase("running")

    def settled(self, error: ErrorInfo | None) -> None:
        """The last attempt is over: it brought an answer, or ended with this error."""
        if self._open is not None:
            self._tell(self._open, "failed" if error else "succeeded", error)
            self._open = None

    def _tell(
        self,
        retry: Retry,
        status: Literal["waiting", "retrying", "succeeded", "failed", "cancelled"],
        error: ErrorInfo | None = None,
    ) -> None:
        delay = round(retry.delay * 1000)
        self._emit(RetryChanged(retry.number, retry.limit, delay, status, error))
