"""One turn while it lives: why it began, how it ends, and how to end it.

Never runs anything. Read next: runner.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from singletree.session.events import Cause, ErrorInfo, TurnReason


@dataclass(slots=True)
class Turn:
    """One turn while it lives. `over`: it has ended, and only what follows by itself may be on.

    `stopped`: somebody wanted it to end, be it that it just ended by itself.
    """

    id: str
    cause: Cause
    reason: TurnReason = "aborted"
    error: ErrorInfo | None = None
    over: bool = False
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped: bool = False

    def scope(self) -> anyio.CancelScope:
        """A scope that `stop` ends; a new one for each stretch of work."""
        self._scope = anyio.CancelScope()
        if self.stopped:
            self._scope.cancel()
        return self._scope

    def stop(self) -> None:
        """End it, whatever it is at."""
        self.stopped = True
        self._scope.cancel()
