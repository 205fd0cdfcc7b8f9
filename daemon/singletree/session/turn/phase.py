"""What a session is doing now, and how others wait for it to change.

Never knows why. Read next: driver.py (who sets it), turns.py (who waits).
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from singletree.session.events import Phase, PhaseChanged, SessionEvent


class CurrentPhase:
    """The phase of one session, told when it changes."""

    def __init__(self, emit: Callable[[SessionEvent], None]) -> None:
        self.now: Phase = "idle"
        self.turn_id: str | None = None
        self._emit = emit
        self._changed = anyio.Event()

    def set(self, phase: Phase) -> None:
        """It is doing this from now on."""
        if phase != self.now:
            self.now = phase
            self._emit(PhaseChanged(phase, self.turn_id))
            self.wake()

    def wake(self) -> None:
        """Let whoever waits look again."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until it is so; looked at after each change."""
        while not reached():
            await self._changed.wait()
