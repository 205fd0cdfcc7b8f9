"""The wiring of one session: its parts, each made once, and how they hear of one another.

Only wiring: what a part does stands in the part. Never speaks with a door. Read next: session.py
(what a door may ask of it), turn/turns.py, turn/driver.py, turn/runner.py (how a turn runs).
"""

from __future__ import annotations

from functools import cached_property

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
    QueueChanged,
    SessionEvent,
    ToolEnded,
    ToolPending,
)
from singletree.session.extensions.hooks import Hooks
from singletree.session.extensions.messages import ExtensionMessages
from singletree.session.model_choice import ModelChoice
from singletree.session.notices import Notices
from singletree.session.reload import Reload
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
    """The parts of one session."""

    def __init__(self, parts: Dependencies) -> None:
        self.parts = parts
        self.notices = Notices(parts.notices, self.tell)
        self.own = parts.agent_dir / "singletree"
        extensions = (*parts.extensions, *parts.of_workspace)
        self.hooks = Hooks(
            extensions, lambda: parts.settings().extension_limit, self.tell, parts.spawn
        )
        self.talk = Conversation(parts.history, self.tell, self.notices.warn)
        self.phase = CurrentPhase(self.tell)
        self._dialogs = 0
        parts.gate.changed = self._asking
        parts.gate.warn = self.notices.warn

    @cached_property
    def queue(self) -> Queue:
        """What people want said."""
        path = self.own / "queues" / f"{self.parts.history.id}.json"
        return Queue(path, self._queue_changed)

    @cached_property
    def extension_messages(self) -> ExtensionMessages:
        """What extensions want said."""
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
            lambda: self.reload.tell_config(),
            self.notices.warn,
        )

    @cached_property
    def reload(self) -> Reload:
        """What comes from the disk."""
        return Reload(self.parts, self.hooks, self.queue, self.choice, self.notices, self.tell)

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
            Needs(self.parts.settings, self.reload.refresh, self._check, self.phase.set),
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
        """What extensions may do."""
        return SessionActions(
            self.parts.cwd, self.talk, self.choice, self.driver, self.show, self.parts.sign
        )

    def tell(self, event: SessionEvent) -> None:
        """Whatever happens: to the doors, and to the extensions."""
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

    def room(self) -> tuple[int, Limits | None]:
        """The window of the model of now, and when it counts as full."""
        try:
            info = self.choice.model().info
        except SingletreeError:
            return 0, None
        limits = self.parts.settings().compaction.limits(info.ref)
        return info.context_window, limits.fit(info.context_window)

    async def _check(self, call: ToolCall, tool: Tool, args: BaseModel) -> Blocked | Changed | None:
        """Extensions first, then the gate: it judges what would really be done."""
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
