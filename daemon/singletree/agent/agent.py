"""Agent: the long-lived driver of run_loop. One conversation, two queues, one run at a time.

`system`, `messages`, `tools`, `model`, `thinking` are plain attributes: set them at any time, the
next step sees them. (`messages` alone is the run's while one is on: it gets a shallow copy and
gives messages back by events; to replace them in the middle, answer `before_step`.) Never knows a
file, a setting or a tool by its name. Read next: loop.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import anyio

from singletree.agent.config import LoopConfig, LoopContext, Step, Waiting
from singletree.agent.events import AgentEvent, MessageEnded, RunEnded
from singletree.agent.loop import run_loop
from singletree.agent.tool import Tool
from singletree.errors import SessionBusy, SessionError
from singletree.messages import AgentMessage, AssistantMessage, SystemMessage, UnknownMessage

QueueMode = Literal["one-at-a-time", "all"]
BUSY = "A run is on; steer it, queue a follow-up, or stop it first."
NOTHING_TO_RESUME = "There is nothing to go on with: the last answer is complete."


class Agent:
    """Drives runs over its own messages. `config` brings the first model and all callbacks.

    The config's `take_steering` and `take_follow_up` are not used: the two lists below are. They
    are plain lists, open to whoever edits a queue.
    """

    def __init__(self, config: LoopConfig, emit: Callable[[AgentEvent], None]) -> None:
        self.system = ""
        self.messages: list[AgentMessage] = []
        self.tools: list[Tool] = []
        self.model = config.model
        self.thinking = config.thinking
        self.steering: list[Waiting] = []
        self.follow_ups: list[Waiting] = []
        self.steering_mode: QueueMode = "one-at-a-time"
        self.follow_up_mode: QueueMode = "one-at-a-time"
        self._config = config
        self._emit = emit
        self._scope: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._ended: RunEnded | None = None

    @property
    def busy(self) -> bool:
        """Whether a run is on."""
        return self._scope is not None

    async def prompt(self, messages: Sequence[AgentMessage | Waiting]) -> RunEnded:
        """Run with these messages. A tuple brings the id of the message's entry along."""
        return await self._run([m if isinstance(m, tuple) else (None, m) for m in messages])

    async def resume(self) -> RunEnded:
        """Go on from where the messages stand: after a failure, a compaction, or for a queue."""
        if self.busy:
            raise SessionBusy(BUSY)
        if self.steering or not self._complete():
            return await self._run(())
        waiting = self._take(self.follow_ups, self.follow_up_mode)
        if not waiting:
            raise SessionError(NOTHING_TO_RESUME)
        return await self._run(waiting)

    def steer(self, message: AgentMessage, entry_id: str | None = None) -> None:
        """Queue a text for the running turn: it joins before the next model call."""
        self.steering.append((entry_id, message))

    def follow_up(self, message: AgentMessage, entry_id: str | None = None) -> None:
        """Queue a text for when the model would stop."""
        self.follow_ups.append((entry_id, message))

    def stop(self) -> None:
        """Tell the run to end; it ends by itself soon after."""
        if self._scope is not None:
            self._scope.cancel()

    async def abort(self, within: float = 1.0) -> bool:
        """Stop the run and wait for its end: False if something in it did not let go in time."""
        self.stop()
        with anyio.move_on_after(within):
            await self.wait_idle()
        return not self.busy

    async def wait_idle(self) -> None:
        """Wait until no run is on."""
        while self.busy:
            await self._idle.wait()

    async def _run(self, prompts: Sequence[Waiting]) -> RunEnded:
        if self.busy:
            raise SessionBusy(BUSY)
        self._idle = anyio.Event()
        self._ended = None
        config = replace(
            self._config,
            model=self.model,
            thinking=self.thinking,
            take_steering=lambda: self._take(self.steering, self.steering_mode),
            take_follow_up=lambda: self._take(self.follow_ups, self.follow_up_mode),
            before_step=self._before_step,
        )
        context = LoopContext(self.system, tuple(self.messages), tuple(self.tools))
        try:
            with anyio.CancelScope() as self._scope:
                await run_loop(prompts, context, config, self._hear)
        finally:
            self._scope = None
            self._idle.set()
        assert self._ended is not None
        return self._ended

    async def _before_step(self, step: Step) -> Step:
        now = replace(
            step,
            model=self.model,
            thinking=self.thinking,
            system=self.system,
            tools=tuple(self.tools),
        )
        changed = await self._config.before_step(now)
        if changed is None:
            return now
        if changed.messages is not step.messages:
            self.messages = list(changed.messages)
        return changed

    def _hear(self, event: AgentEvent) -> None:
        if isinstance(event, MessageEnded):
            self.messages.append(event.message)
        elif isinstance(event, RunEnded):
            self._ended = event
        self._emit(event)

    def _take(self, queue: list[Waiting], mode: QueueMode) -> Sequence[Waiting]:
        count = len(queue) if mode == "all" else 1
        taken = queue[:count]
        del queue[:count]
        return taken

    def _complete(self) -> bool:
        """Whether the model had the last word, so that asking again would make no sense."""
        for message in reversed(self.messages):
            match message:
                case AssistantMessage(stop_reason="error" | "aborted"):
                    continue
                case AssistantMessage():
                    return not message.tool_calls
                case SystemMessage() | UnknownMessage():
                    continue
                case _:
                    return False
        return True
