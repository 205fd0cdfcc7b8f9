"""Commands that a person runs by hand: watched, kept as entries, seen by the model unless excluded.

While a turn runs the command runs too, but its entry waits: it must not part a call from its
result. Never asks the gate: the person is the one it would ask. Read next: ../tools/bash.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from singletree.errors import SessionError, SingletreeError, ToolError
from singletree.extensions.api import Block, UserBash
from singletree.history.entries import MessageEntry
from singletree.messages import BashExecutionMessage, well_formed
from singletree.session.events import BashOutput, SessionEvent
from singletree.session.extensions.hooks import Hooks
from singletree.session.tree.conversation import Conversation
from singletree.tools.bash import user_command
from singletree.tools.world import Shell

EMPTY = "The command is empty."
NOT_TEXT = "The command or its folder holds characters that no shell takes (NUL or half a pair)."
FAREWELL = 1.0
"""Seconds that closing a session waits for commands to end."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and the id of its entry (which may still wait for a turn to end)."""

    entry_id: str
    message: BashExecutionMessage


@dataclass(slots=True)
class _Job:
    entry_id: str
    asked: UserBash
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    ran: Ran | None = None
    error: SingletreeError | None = None


class BashRunner:
    """The commands of one session's people. `turn_runs`: whether entries must wait."""

    def __init__(
        self,
        talk: Conversation,
        hooks: Hooks,
        shell: Shell,
        cwd: Path,
        outputs: Path | None,
        turn_runs: Callable[[], bool],
        changed: Callable[[], None],
        emit: Callable[[SessionEvent], None],
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._talk = talk
        self._hooks = hooks
        self._shell = shell
        self._cwd = cwd
        self._outputs = outputs
        self._turn_runs = turn_runs
        self._changed = changed
        self._emit = emit
        self._spawn = spawn
        self._jobs: list[_Job] = []

    @property
    def busy(self) -> bool:
        """Whether a command runs."""
        return bool(self._jobs)

    async def run(
        self, command: str, *, cwd: str | None = None, exclude_from_context: bool = False
    ) -> Ran:
        """Run a command to its end. Cancelling ends it; its entry is kept all the same."""
        if not command.strip():
            raise SessionError(EMPTY, code="input_empty")
        if any("\0" in text or well_formed(text) != text for text in (command, cwd or "")):
            raise SessionError(NOT_TEXT, code="input_rejected")
        self._talk.check_writable()
        folder = self._cwd / (cwd or "")
        asked = await self._allowed(UserBash(command, str(folder), exclude_from_context))
        job = _Job(self._talk.history.mint(), asked)
        self._jobs.append(job)
        self._spawn(lambda: self._work(job))
        try:
            await job.done.wait()
        finally:
            job.scope.cancel()
        if job.error is not None:
            raise job.error
        assert job.ran is not None
        return job.ran

    def cancel(self) -> None:
        """End all commands."""
        for job in self._jobs:
            job.scope.cancel()

    async def close(self) -> None:
        """End all commands and wait for that."""
        self.cancel()
        with anyio.move_on_after(FAREWELL):
            for job in list(self._jobs):
                await job.done.wait()

    async def _allowed(self, asked: UserBash) -> UserBash:
        fired = await self._hooks.fire(asked)
        if isinstance(fired.verdict, Block):
            raise SessionError(fired.verdict.reason, code="denied")
        return fired.payload

    async def _work(self, job: _Job) -> None:
        asked = job.asked
        try:
            message = await user_command(
                self._shell,
                asked.command,
                cwd=Path(asked.cwd),
                scope=job.scope,
                update=lambda text: self._emit(BashOutput(job.entry_id, text)),
                outputs=self._outputs,
            )
            if asked.exclude_from_context:
                message = message.model_copy(update={"exclude_from_context": True})
            self._keep(job.entry_id, message)
            job.ran = Ran(job.entry_id, message)
        except ToolError as error:
            job.error = SessionError(error.message, code="not_found")
        except SingletreeError as error:
            job.error = error
        finally:
            self._jobs.remove(job)
            job.done.set()
            self._changed()

    def _keep(self, entry_id: str, message: BashExecutionMessage) -> None:
        entry = MessageEntry(message=message)
        if self._turn_runs():
            self._talk.put_off(entry, id=entry_id)
        else:
            self._talk.add(entry, id=entry_id)
