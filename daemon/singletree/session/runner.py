"""How a turn runs: runs of the agent, and around them compaction, retry and recovery.

A turn is one user message (or follow-up) from its start until the model stops and no steering
waits. Whatever happens inside, it begins with one TurnStarted and ends with one TurnEnded. Every
request is made from the tree as it then is, so steering, a compaction between steps and a hidden
attempt need no bookkeeping of their own. Never knows who asked for the turn.
Read next: ../agent/loop.py (a run), ears.py (what becomes of its events), recovery.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread
from pydantic import BaseModel

from singletree.agent.agent import Agent
from singletree.agent.config import Blocked, LoopConfig, Step
from singletree.agent.events import RunEnded
from singletree.agent.tool import Tool
from singletree.compaction.budget import estimate
from singletree.context.feed import Feed
from singletree.context.projection import Projection
from singletree.errors import ContextOverflow, SingletreeError
from singletree.messages import ToolCall, ToolResultMessage
from singletree.session.choice import Choice
from singletree.session.conversation import Conversation
from singletree.session.ears import Ears
from singletree.session.events import (
    Cause,
    ErrorInfo,
    Phase,
    SessionEvent,
    TurnEnded,
    TurnReason,
    TurnStarted,
)
from singletree.session.memory import Compactor
from singletree.session.queue import Queue
from singletree.session.recovery import Attempt, CompactAndRetry, Retry, Settle, after_run
from singletree.session.retries import Retries
from singletree.session.settings import Settings
from singletree.session.state import error_info

Check = Callable[[ToolCall, Tool, BaseModel], Awaitable[Blocked | BaseModel | None]]

TOO_LARGE = (
    "The request does not fit the model's window even after compacting. The largest part is {what} "
    "with about {tokens} tokens: go back in the tree to before it, or choose a model with a larger "
    "window."
)


@dataclass(slots=True)
class Turn:
    """One turn while it lives. `over`: it has ended, and only what follows by itself may be on."""

    id: str
    cause: Cause
    reason: TurnReason = "aborted"
    error: ErrorInfo | None = None
    over: bool = False
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _stopped: bool = False

    def scope(self) -> anyio.CancelScope:
        """A scope that `stop` ends; a new one for each stretch of work."""
        self._scope = anyio.CancelScope()
        if self._stopped:
            self._scope.cancel()
        return self._scope

    def stop(self) -> None:
        """End it, whatever it is at."""
        self._stopped = True
        self._scope.cancel()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a runner asks the session for, each time anew. `system` reads files: it is slow."""

    settings: Callable[[], Settings]
    system: Callable[[Sequence[Tool]], str]
    check: Check
    phase: Callable[[Phase], None]


class Runner:
    """Runs the turns of one session, one at a time."""

    def __init__(
        self,
        talk: Conversation,
        ears: Ears,
        queue: Queue,
        choice: Choice,
        compactor: Compactor,
        needs: Needs,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._talk = talk
        self._ears = ears
        self._queue = queue
        self._choice = choice
        self._compactor = compactor
        self._needs = needs
        self._emit = emit
        self._feed = Feed()
        self._agent: Agent | None = None
        self.retries = Retries(needs.phase, emit)

    def steer(self) -> None:
        """What waits is another list: the running agent takes from the new one."""
        if self._agent is not None:
            self._agent.steering = self._queue.steering()
            self._agent.steering_mode = self._queue.modes["steer"]

    async def run(self, turn: Turn) -> None:
        """The whole turn. Ends as cancelled only when the session itself is being closed."""
        self._needs.phase("running")
        self._emit(TurnStarted(turn.id, turn.cause))
        self._ears.begin()
        try:
            with turn.scope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._ears.keep_partials)
                    await self._attempts(turn)
                    group.cancel_scope.cancel()
            if scope.cancelled_caught:
                turn.reason, turn.error = "aborted", None
        finally:
            turn.over = True
            await self._ears.drop_partial()
            self._emit(TurnEnded(turn.id, turn.reason, turn.error, self._ears.usage))

    async def _attempts(self, turn: Turn) -> None:
        """Runs until one settles; a failure is the turn's error, never an exception."""
        try:
            await self._compactor.fit(self._choice.model())
            attempt = Attempt()
            while True:
                ended = await self._run_agent()
                attempt = attempt.counted(ended)
                info, settings = self._choice.model().info, self._needs.settings()
                match after_run(ended, attempt, info, settings):
                    case Settle() as settle:
                        self._settle(turn, settle)
                        return
                    case Retry() as retry:
                        self._hide_failed()
                        await self.retries.wait(retry, ended)
                    case CompactAndRetry("overflow", otherwise=otherwise):
                        self._hide_failed()
                        if not await self._compactor.overflow(self._choice.model()):
                            raise too_large(otherwise, self._talk.projection())
                        attempt = attempt.compacted()
                    case CompactAndRetry(otherwise=otherwise):
                        if not await self._compactor.overflow(self._choice.model()):
                            self._settle(turn, otherwise)
                            return
                        self._hide_failed()
                        attempt = attempt.compacted()
        except SingletreeError as error:
            turn.reason, turn.error = "error", error_info(error)

    def _settle(self, turn: Turn, settle: Settle) -> None:
        turn.reason = settle.reason
        turn.error = error_info(settle.error) if settle.error else None
        self.retries.settled(turn.error)

    async def _run_agent(self) -> RunEnded:
        """One run of the loop over the tree as it now stands."""
        needs = self._needs
        if self._agent is None:
            config = LoopConfig(
                model=self._choice.model(),
                mint=self._talk.history.mint,
                to_llm=self._feed.messages,
                before_tool=needs.check,
                before_step=self._before_step,
                max_steps=needs.settings().max_steps,
                session_id=self._talk.history.id,
            )
            self._agent = Agent(config, self._ears.hear)
        agent = self._agent
        agent.messages = list(self._talk.projection().messages)
        agent.model, agent.thinking = self._choice.model(), self._choice.thinking
        agent.tools = list(self._choice.tools)
        self.steer()
        return await agent.resume()

    async def _before_step(self, step: Step) -> Step:
        """Make the next request from the tree as it is: prompt, messages, model, tools."""
        needs = self._needs
        if step.index > 0:
            await self._compactor.fit(self._choice.model())
        tools = tuple(self._choice.tools)
        system = await anyio.to_thread.run_sync(needs.system, tools)
        return replace(
            step,
            model=self._choice.model(),
            thinking=self._choice.thinking,
            system=system,
            tools=tools,
            messages=self._talk.projection().messages,
        )

    def _hide_failed(self) -> None:
        """The failed answer stays in the file and out of every later request.

        One that was only cut is hidden when the compaction has made room for another, not before.
        """
        if self._ears.last is not None:
            self._talk.hide([self._ears.last[0]])


def too_large(otherwise: Settle, projection: Projection) -> SingletreeError:
    """The error that names what cannot be made smaller."""
    if not projection.messages:
        return otherwise.error or ContextOverflow("The request does not fit the model's window.")
    largest = max(projection.messages, key=estimate)
    what = f"a message of role {getattr(largest, 'role', 'unknown')}"
    if isinstance(largest, ToolResultMessage):
        what = f"the result of the tool {largest.tool_name}"
    return ContextOverflow(
        TOO_LARGE.format(what=what, tokens=estimate(largest)),
        detail={"largest": {"what": what, "tokens": estimate(largest)}},
    )
