"""What of a session can be ended by itself: a turn, one call, a wait, a summary, a command.

Never decides that something ends. Read next: turns.py (who asks for it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from singletree.session.tree.compactor import Compactor
from singletree.session.turn.driver import Driver
from singletree.session.turn.runner import Runner
from singletree.session.user_bash import BashRunner

Scope = Literal["turn", "tool", "retry", "compaction", "branchSummary", "bash"]


class Stops:
    """Ends the parts of one session's work."""

    def __init__(
        self, driver: Driver, runner: Runner, compactor: Compactor, user_bash: BashRunner
    ) -> None:
        self._driver = driver
        self._runner = runner
        self._compactor = compactor
        self._user_bash = user_bash

    def calls(self, scope: Scope, call_id: str | None) -> list[str]:
        """The running calls that a scope means."""
        return self._runner.calls(call_id) if scope == "tool" else []

    def stop(self, scope: Scope, calls: Sequence[str] = ()) -> None:
        """Tell it to end."""
        match scope:
            case "turn":
                if self._driver.turn is not None:
                    self._driver.turn.stop()
            case "retry":
                self._runner.retries.cancel()
            case "compaction":
                self._compactor.cancel()
            case "branchSummary":
                if self._driver.navigation is not None:
                    self._driver.navigation.cancel()
            case "tool":
                self._runner.stop_calls(calls)
            case "bash":
                self._user_bash.cancel()

    def runs(self, scope: Scope, calls: Sequence[str] = ()) -> bool:
        """Whether it is still on."""
        match scope:
            case "turn":
                return self._driver.turn is not None
            case "retry":
                return self._runner.retries.waiting
            case "compaction":
                return self._compactor.busy
            case "branchSummary":
                return self._driver.navigation is not None
            case "tool":
                return any(self._runner.calls(one) for one in calls)
            case "bash":
                return self._user_bash.busy
