"""The wiring of one session: its parts, each made once, and how they hear of one another.

Only wiring: what a part does stands in the part. Never speaks with a door. Read next: session.py
(what a door may ask of it), turn/turns.py, turn/driver.py, turn/runner.py (how a turn runs).
"""

from __future__ import annotations

from functools import cached_property

import anyio
import anyio.to_thread
from pydantic import BaseModel

from singletree.agent.config import Blocked, Changed
from singletree.agent.tool import Tool
from singletree.compaction.budget import Limits
from singletree.errors import SingletreeError
from singletree.extensions.dialog import Dialog, Reply
from singletree.messages import ToolCall
from singletree.session.actions import SessionActions
from singletree.session.dependencies import Dependencies
from singletree.session.events import (
    CommandsChanged,
    ConfigChanged,
    ExtensionFailed,
    QueueChanged,
    SessionEvent,
    ToolEnded,
    ToolPending,
    Warned,
)
from singletree.session.extensions.hooks import Hooks
from singletree.session.extensions.messages import ExtensionMessages
from singletree.session.model_choice import ModelChoice
from singletree.session.tree.compactor import Compactor
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.driver import Driver
from singletree.session.turn.phase import CurrentPhase
from singletree.session.turn.queue import Queue
from singletree.session.turn.recorder import Recorder
from singletree.session.turn.runner import Needs, Runner
from singletree.session.turn.system_prompt import SystemPrompt
from singletree.session.user_bash import BashRunner


class Wiring:
    """The parts of one session. `notices`: what a client that comes later should know."""

    def __init__(self, parts: Dependencies) -> None:
        self.parts = parts
        self.notices = list(parts.notices)
        self.own = parts.agent_dir / "singletree"
        guests = (*parts.guests, *parts.of_workspace)
        self.hooks = Hooks(guests, self._guest_limit, self.tell, parts.spawn)
        self.talk = Conversation(parts.history, self.tell, self.warn)
        self.phase = CurrentPhase(self.tell)
        self._dialogs = 0
        self._told: ConfigChanged | None = None
        self._trust = parts.trust()
        self._of_workspace = parts.of_workspace
        self._refreshing = anyio.Lock()
        parts.gate.changed = self._asking
        parts.gate.warn = self.warn

    @cached_property
    def queue(self) -> Queue:
        """What people want said."""
        path = self.own / "queues" / f"{self.parts.history.id}.json"
        return Queue(path, self._queue_changed)

    @cached_property
    def extension_messages(self) -> ExtensionMessages:
        """What guests want said."""
        return ExtensionMessages(self.parts.history.mint)

    @cached_property
    def choice(self) -> ModelChoice:
        """Who answers, with which tools."""
        parts = self.parts
        return ModelChoice(
            self.talk,
            parts.tools,
            parts.named,
            parts.settings,
            parts.first,
            parts.find,
            self.tell_config,
            self.warn,
        )

    @cached_property
    def compactor(self) -> Compactor:
        """How it forgets."""
        return Compactor(
            self.talk,
            self.parts.settings,
            lambda: self.choice.thinking,
            self.hooks,
            self.phase.set,
            self.tell,
        )

    @cached_property
    def recorder(self) -> Recorder:
        """What becomes of the agent's events."""
        return Recorder(
            self.talk,
            self.queue,
            self.extension_messages,
            self.own / "partials" / f"{self.parts.history.id}.json",
            lambda: self.choice.model().info,
            self._answered,
            self.tell,
        )

    @cached_property
    def system_prompt(self) -> SystemPrompt:
        """The system prompt."""
        return SystemPrompt(self.talk, self.hooks, self.parts.gather)

    @cached_property
    def runner(self) -> Runner:
        """How a turn runs."""
        return Runner(
            self.talk,
            self.recorder,
            self.queue,
            self.extension_messages,
            self.choice,
            self.compactor,
            self.hooks,
            self.system_prompt,
            Needs(self.parts.settings, self.refresh, self._check, self.phase.set),
            self.tell,
        )

    @cached_property
    def driver(self) -> Driver:
        """How turns follow one another."""
        return Driver(
            self.talk,
            self.queue,
            self.extension_messages,
            self.choice,
            self.runner,
            self.compactor,
            self.hooks,
            self.phase,
            self.tell,
            self.parts.spawn,
        )

    @cached_property
    def user_bash(self) -> BashRunner:
        """Commands of people."""
        return BashRunner(
            self.talk,
            self.hooks,
            self.parts.shell,
            self.parts.cwd,
            self.parts.outputs,
            lambda: self.driver.turn is not None,
            self.phase.wake,
            self.tell,
            self.parts.spawn,
        )

    @cached_property
    def actions(self) -> SessionActions:
        """What guests may do."""
        return SessionActions(
            self.parts.cwd, self.talk, self.choice, self.driver, self.show, self.parts.sign
        )

    def tell(self, event: SessionEvent) -> None:
        """Whatever happens: to the doors, and to the guests."""
        self.parts.emit(event)
        self.hooks.hear(event)
        if isinstance(event, ToolEnded):
            self.phase.wake()

    async def show(self, dialog: Dialog) -> Reply:
        """A dialog before people; meanwhile the session waits for them."""
        self._dialogs += 1
        self._asking()
        try:
            return await self.parts.show(dialog)
        finally:
            self._dialogs -= 1
            self._asking()

    def warn(self, code: str, message: str) -> None:
        """Something a person should know, now and when a client comes later."""
        if (code, message) not in self.notices:
            self.notices.append((code, message))
        self.tell(Warned(code, message))

    def config(self) -> ConfigChanged:
        """What can be switched, as it is now."""
        return ConfigChanged(
            self.choice.ref,
            self.choice.thinking,
            self.parts.history.name,
            tuple(tool.name for tool in self.choice.tools),
            self.parts.gate.mode,
            self.parts.trust().trusted,
            self.parts.trust().left_aside,
        )

    def tell_config(self) -> None:
        """Something was switched."""
        self._told = self.config()
        self.tell(self._told)

    async def refresh(self) -> None:
        """Before a turn or a summary: what has changed on the disk counts from now on."""
        async with self._refreshing:
            config = self.config()
            for warning in await anyio.to_thread.run_sync(self.parts.refresh):
                self.warn("settings", warning)
            before, self._trust = self._trust, self.parts.trust()
            if self._trust is not before:
                await self._exchange_guests()
            self.take_over()
            changed = self._trust is not before
            if changed:
                self.tell(CommandsChanged())
            if (changed or self.config() != config) and self.config() != self._told:
                self.tell_config()

    async def _exchange_guests(self) -> None:
        """The workspace is trusted now, or no more: its guests come, or go."""
        self.notices = [one for one in self.notices if one[0] != "trust"]
        for text in self._trust.warnings:
            self.warn("trust", text)
        loaded = await self.parts.load_of_workspace()
        for failure in loaded.problems:
            self.tell(ExtensionFailed(failure.extension, failure.event, failure.message))
        old, self._of_workspace = self._of_workspace, loaded.guests
        await self.hooks.exchange(old, loaded.guests, self.config(), self.parts.history.leaf)

    def take_over(self) -> None:
        """What settings and guests say now."""
        parts = self.parts
        settings = parts.settings()
        self.queue.begin_modes(settings.steering_mode, settings.follow_up_mode)
        self.choice.offer(
            self.hooks.tools, lambda name: not parts.only_active or name in parts.active
        )

    def room(self) -> tuple[int, Limits | None]:
        """The window of the model of now, and when it counts as full."""
        try:
            info = self.choice.model().info
        except SingletreeError:
            return 0, None
        limits = self.parts.settings().compaction.limits(info.ref)
        return info.context_window, limits.fit(info.context_window)

    def _guest_limit(self) -> float | None:
        return self.parts.settings().extension_timeout_ms / 1000 or None

    async def _check(self, call: ToolCall, tool: Tool, args: BaseModel) -> Blocked | Changed | None:
        """Guests first, then the gate: it judges what would really be done."""
        self.tell(ToolPending(call))
        asked = await self.hooks.calling(call, tool, args)
        if isinstance(asked, Blocked):
            return asked
        verdict = await self.parts.gate.check(asked[0], tool, asked[1])
        if isinstance(verdict, Blocked):
            return verdict
        return None if verdict.args is args else Changed(verdict.args, verdict.note)

    def _asking(self) -> None:
        """A question to people was opened or has its answer."""
        if self.phase.now in ("running", "requires_action"):
            asking = self.parts.gate.open or self._dialogs
            self.phase.set("requires_action" if asking else "running")

    def _answered(self) -> None:
        self.compactor.answered = True

    def _queue_changed(self) -> None:
        self.tell(QueueChanged(self.queue.items, self.queue.version))
