"""How a turn runs: runs of the loop, and around them compaction, retry and recovery.

A turn is one user message (or follow-up) from its start until the model stops and no steering
waits. Whatever happens inside, it begins with one TurnStarted and ends with one TurnEnded. Every
request is made from the tree as it then is, so steering, a compaction between steps and a hidden
attempt need no bookkeeping of their own. Never knows who asked for the turn.
Read next: ../../agent/loop.py (a run), recorder.py (what becomes of its events), recovery.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import anyio
import anyio.to_thread
from pydantic import BaseModel

from singletree.agent.config import Blocked, Changed, LoopConfig, LoopContext, Step, Waiting
from singletree.agent.events import AgentEvent, MessageEnded, RunEnded
from singletree.agent.loop import run_loop
from singletree.agent.tool import Tool
from singletree.context.feed import Feed
from singletree.errors import ContextOverflow, SingletreeError
from singletree.messages import AgentMessage, AssistantMessage, Message, ToolCall
from singletree.session.events import (
    Phase,
    SessionEvent,
    TurnEnded,
    TurnStarted,
    Warned,
)
from singletree.session.extensions.hooks import Hooks
from singletree.session.extensions.messages import ExtensionMessages
from singletree.session.model_choice import ModelChoice
from singletree.session.pictures import without_pictures
from singletree.session.settings.keys import Settings
from singletree.session.state import error_info
from singletree.session.tree.compactor import Compactor
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.queue import Queue
from singletree.session.turn.recorder import Recorder
from singletree.session.turn.recovery import Attempt, CompactAndRetry, Retry, Settle, after_run
from singletree.session.turn.retries import Retries
from singletree.session.turn.system_prompt import SystemPrompt
from singletree.session.turn.too_large import too_large
from singletree.session.turn.turn import Turn

Check = Callable[[ToolCall, Tool, BaseModel], Awaitable[Blocked | Changed | None]]

ORPHAN = (
    "A result of the tool {tool} stands in this branch without its call; it is not sent, and the "
    "file stays as it is."
)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a runner asks the session for, each time anew. `refresh` reads changed files."""

    settings: Callable[[], Settings]
    refresh: Callable[[], Awaitable[None]]
    check: Check
    phase: Callable[[Phase], None]


class Runner:
    """Runs the turns of one session, one at a time."""

    def __init__(
        self,
        talk: Conversation,
        recorder: Recorder,
        queue: Queue,
        extension_messages: ExtensionMessages,
        choice: ModelChoice,
        compactor: Compactor,
        hooks: Hooks,
        system_prompt: SystemPrompt,
        needs: Needs,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._talk = talk
        self._recorder = recorder
        self._queue = queue
        self._extension_messages = extension_messages
        self._choice = choice
        self._compactor = compactor
        self._hooks = hooks
        self._system_prompt = system_prompt
        self._needs = needs
        self._emit = emit
        self._feed = Feed()
        self._calls: dict[str, anyio.CancelScope] = {}
        self._orphans: set[str] = set()
        self.retries = Retries(needs.phase, emit)

    def calls(self, call_id: str | None) -> list[str]:
        """The call of this id, or all, as far as they are checked or run."""
        return [one for one in self._calls if call_id in (None, one)]

    def stop_calls(self, ids: Sequence[str]) -> None:
        """End these calls alone; the turn goes on."""
        for call_id in ids:
            self._calls[call_id].cancel()

    async def run(self, turn: Turn) -> None:
        """The whole turn. Ends as cancelled only when the session itself is being closed."""
        self._needs.phase("running")
        self._emit(TurnStarted(turn.id, turn.cause))
        self._recorder.begin()
        self._compactor.begin()
        self._system_prompt.forget()
        try:
            with turn.scope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._recorder.keep_partials)
                    await self._attempts(turn)
                    group.cancel_scope.cancel()
            if scope.cancelled_caught:
                turn.reason, turn.error = "aborted", None
        finally:
            turn.over = True
            self._system_prompt.forget()
            await self._recorder.settle_partial()
            self._emit(TurnEnded(turn.id, turn.reason, turn.error, self._recorder.usage))

    async def _attempts(self, turn: Turn) -> None:
        """Runs until one settles; a failure is the turn's error, never an exception."""
        try:
            await self._needs.refresh()
            await anyio.to_thread.run_sync(self._talk.projection)  # may read a whole path
            await self._compactor.fit(self._choice.model())
            attempt = Attempt()
            while True:
                ended = await self._run_loop()
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
                        if not await self._without_failed(again=attempt.compactions > 0):
                            self._settle(turn, otherwise)
                            return
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
        error = settle.error
        if isinstance(error, ContextOverflow):
            error = too_large(error, self._talk.projection().messages, self._system_prompt.held)
        turn.reason = settle.reason
        turn.error = error_info(error) if error else None
        self.retries.settled(turn.error)

    async def _run_loop(self) -> RunEnded:
        """One run of the loop over the tree as it now stands."""
        choice, needs, hooks = self._choice, self._needs, self._hooks
        context = LoopContext("", self._talk.projection().messages)
        config = LoopConfig(
            model=choice.model(),
            thinking=choice.thinking,
            mint=self._talk.history.mint,
            to_llm=self._to_llm,
            transform_context=hooks.context,
            before_tool=needs.check,
            after_tool=hooks.called,
            take_steering=self._take_steering,
            before_step=self._before_step,
            max_steps=needs.settings().max_steps,
            session_id=self._talk.history.id,
            calls=self._calls,
        )
        return await run_loop((), context, config, self._record)

    def _record(self, event: AgentEvent) -> None:
        """Keep what happens and pass it on; a good answer ends the retries before it."""
        self._recorder.record(event)
        match event:
            case MessageEnded(message=AssistantMessage(failed=False)):
                self.retries.settled(None)
            case _:
                pass

    def _take_steering(self) -> Sequence[Waiting]:
        """What is heard before the next request. It leaves its place when it is an entry."""
        waiting = [*self._queue.steering(), *self._extension_messages.steering()]
        return waiting if self._queue.modes["steer"] == "all" else waiting[:1]

    async def _before_step(self, step: Step) -> Step:
        """Make the next request from the tree as it is: prompt, messages, model, tools."""
        await self._hooks.caught_up()
        if step.index > 0:
            await self._compactor.fit(self._choice.model())
        tools = tuple(self._choice.tools)
        system = await self._system_prompt.system(tools)
        return replace(
            step,
            model=self._choice.model(),
            thinking=self._choice.thinking,
            system=system,
            tools=tools,
            messages=self._talk.projection().messages,
        )

    def _to_llm(self, messages: Sequence[AgentMessage]) -> Sequence[Message]:
        """What is sent; of what can't be, a person is told once."""
        sent = self._feed.messages(messages)
        for orphan in self._feed.orphans:
            if orphan.tool_call_id not in self._orphans:
                self._orphans.add(orphan.tool_call_id)
                self._emit(Warned("orphan_result", ORPHAN.format(tool=orphan.tool_name)))
        blocked = self._needs.settings().images.block_images
        return without_pictures(sent) if blocked else sent

    async def _without_failed(self, again: bool) -> bool:
        """Hide the answer that overflowed and compact; `again` only where that is of any use."""
        model, last = self._choice.model(), self._recorder.last
        if again and not self._compactor.can_help(model, last[0] if last else None):
            return False
        self._hide_failed()
        return await self._compactor.overflow(model)

    def _hide_failed(self) -> None:
        """The failed answer stays in the file and out of every later request.

        One that was only cut is hidden when the compaction has made room for another, not before.
        """
        if self._recorder.last is not None:
            self._talk.hide([self._recorder.last[0]])
