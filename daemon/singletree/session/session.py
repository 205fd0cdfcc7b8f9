"""AgentSession: the steward of one conversation, put together from its parts.

It turns a path of the tree into messages for the agent, and the agent's events into entries of the
tree. Never knows JSON-RPC, a URI or an editor. Read next: turns.py (saying something), runner.py
(how a turn runs), memory.py (compaction and navigation).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
from pydantic import BaseModel

from singletree.agent.config import Blocked
from singletree.agent.tool import Tool
from singletree.compaction.budget import estimate_text
from singletree.context.prompt import PromptParts, ToolNote, build_system_prompt
from singletree.errors import SessionError, SingletreeError, UnknownEntry
from singletree.extensions.runner import Extensions
from singletree.history.entries import MessageEntry, SessionInfoEntry
from singletree.history.record import History
from singletree.messages import AssistantMessage, ToolCall
from singletree.model.base import Model
from singletree.session.choice import Choice
from singletree.session.conversation import Conversation
from singletree.session.ears import Ears
from singletree.session.events import (
    CompactionResult,
    ConfigChanged,
    QueueChanged,
    SessionEvent,
    ToolPending,
    Warned,
)
from singletree.session.gate import Allowed, Gate, Mode
from singletree.session.memory import Compactor, Navigated, check_leaf, complete_with, navigate
from singletree.session.partials import drop_partial, read_partial
from singletree.session.pulse import Pulse
from singletree.session.queue import Queue
from singletree.session.runner import Needs, Runner
from singletree.session.settings import Settings
from singletree.session.state import ContextUse, LiveAnswer, SessionState
from singletree.session.turns import Spawn, Turns

SUMMARY_CANCELLED = "The summary was cancelled; nothing has moved."


@dataclass(frozen=True, slots=True)
class Parts:
    """What the host puts together for a session; functions are asked each time anew.

    `named`: the model that the command line insists on. `first`: the one to begin with else.
    `find`: a reference as a model. `gather`: everything that goes into the system prompt, read from
    files (slow). `emit` and `spawn` come from above: who hears, and where turns live. `skipped`:
    what an untrusted workspace brought along, as (kind, path).
    """

    agent_dir: Path
    cwd: Path
    history: History
    settings: Callable[[], Settings]
    first: Callable[[], Awaitable[str]]
    find: Callable[[str], Model]
    tools: Sequence[Tool]
    active: Sequence[str]
    gate: Gate
    gather: Callable[[], PromptParts]
    extensions: Extensions
    emit: Callable[[SessionEvent], None]
    spawn: Spawn
    named: str | None = None
    trusted: bool = True
    skipped: tuple[tuple[str, str], ...] = ()
    notices: tuple[tuple[str, str], ...] = ()


class AgentSession:
    """One conversation.

    `turns` say something, `choice` sets who answers, `queue` holds what waits.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._emit = parts.emit
        self._notices = list(parts.notices)
        self.history = parts.history
        self.cwd = parts.cwd
        self.gate = parts.gate
        self.gate.changed = self._asking
        self._talk = Conversation(parts.history, parts.emit, self.warn)
        own = parts.agent_dir / "singletree"
        self._partial = own / "partials" / f"{self.id}.json"
        self.queue = Queue(own / "queues" / f"{self.id}.json", self._queue_changed)
        self._pulse = Pulse(parts.emit)
        self.choice = Choice(
            self._talk,
            parts.tools,
            parts.named,
            parts.settings,
            parts.first,
            parts.find,
            self._tell_config,
            self.warn,
        )
        self._compactor = Compactor(
            self._talk, parts.settings, lambda: self.choice.thinking, self._pulse.set, parts.emit
        )
        self._ears = Ears(
            self._talk,
            self.queue,
            self._partial,
            lambda: self.choice.model().info,
            self._answered,
            parts.emit,
        )
        needs = Needs(parts.settings, self._system_prompt, self._check, self._pulse.set)
        self._runner = Runner(
            self._talk, self._ears, self.queue, self.choice, self._compactor, needs, parts.emit
        )
        self.turns = Turns(
            self._talk,
            self.queue,
            self.choice,
            self._runner,
            self._compactor,
            self._pulse,
            parts.emit,
            parts.spawn,
        )

    @property
    def id(self) -> str:
        """The session's id, the same in its file."""
        return self.history.id

    async def begin(self) -> None:
        """Take up what the last life left: a streamed answer, a queue, the branch's model."""
        self.choice.tools = tuple(
            tool for tool in self._parts.tools if tool.name in self._parts.active
        )
        self._restore_partial(await anyio.to_thread.run_sync(read_partial, self._partial))
        self.queue.restore(await anyio.to_thread.run_sync(self.queue.load), self._knows)
        await anyio.to_thread.run_sync(drop_partial, self._partial)
        self.choice.restore()

    async def compact(self, instructions: str | None = None) -> CompactionResult:
        """Sum up the older part of the path, by hand."""
        self.turns.check_idle()
        self._talk.check_writable()
        try:
            await self.choice.settle()
            return await self._compactor.compact(self.choice.model(), instructions)
        finally:
            self._pulse.wake()

    async def navigate(
        self,
        target: str,
        *,
        summarize: bool = False,
        instructions: str | None = None,
        replace: bool = False,
        label: str | None = None,
        expected_leaf_id: str | None = None,
    ) -> Navigated:
        """Go on from another entry of the same file, with or without a summary of what is left."""
        self.turns.check_idle()
        self._talk.check_writable()
        check_leaf(self._talk, expected_leaf_id)
        self.turns.navigation = anyio.CancelScope()
        try:
            complete, window = None, None
            if summarize:
                await self.choice.settle()
                window = self.choice.model().info.context_window
                complete = complete_with(
                    self.choice.model(), self.choice.thinking, lambda text: None
                )
            with self.turns.navigation:
                return await navigate(
                    self._talk,
                    target,
                    complete=complete,
                    window=window,
                    reserve=self._parts.settings().branch_summary.reserve_tokens,
                    instructions=instructions,
                    replace=replace,
                    label=label,
                )
            raise SessionError(SUMMARY_CANCELLED, code="cancelled")
        finally:
            self.turns.navigation = None
            self._pulse.wake()

    def label(self, entry_id: str, label: str | None) -> str:
        """Put a bookmark on an entry or take it away; the id of the entry that records it."""
        return self._talk.label(entry_id, label).id

    def rename(self, name: str) -> str | None:
        """Name the session; an empty name takes the name away."""
        self._talk.add(SessionInfoEntry(name=" ".join(name.split())))
        self._tell_config()
        return self.history.name

    def set_mode(self, mode: Mode) -> None:
        """What is asked before it is done."""
        self.gate.mode = mode
        self._tell_config()

    def warn(self, code: str, message: str) -> None:
        """Something a person should know, now and when a client comes later."""
        self._notices.append((code, message))
        self._emit(Warned(code, message))

    @property
    def live(self) -> LiveAnswer | None:
        """The answer that streams."""
        return self._ears.live

    def state(self) -> SessionState:
        """Everything a client needs to draw the session without its history."""
        history = self.history
        return SessionState(
            session_id=self.id,
            cwd=self.cwd,
            path=history.file if history.on_disk else None,
            name=history.name,
            phase=self._pulse.phase,
            turn_id=self._pulse.turn_id,
            last_turn=self.turns.last,
            model=self.choice.ref,
            thinking=self.choice.thinking,
            tools=tuple(tool.name for tool in self.choice.tools),
            mode=self.gate.mode,
            queue=self.queue.items,
            queue_version=self.queue.version,
            leaf_id=history.leaf,
            tree_version=history.tree_version,
            entry_count=history.entry_count,
            message_count=len(self._talk.projection().messages),
            context=self.context_use(),
            open_calls=tuple(self._ears.open_calls.values()),
            trusted=self._parts.trusted,
            skipped=self._parts.skipped,
            read_only=history.read_only,
            notices=tuple(self._notices),
        )

    def context_use(self) -> ContextUse:
        """How full the window is."""
        try:
            window = self.choice.model().info.context_window
        except SingletreeError:
            window = 0
        return ContextUse(self._talk.shown_tokens(), window)

    async def close(self) -> None:
        """End what runs, save what waits, let go of the file."""
        await self.turns.abort("turn")
        self._compactor.cancel()
        with anyio.CancelScope(shield=True):
            await self.turns.save_queue()
            await anyio.to_thread.run_sync(self.history.sync)
            await anyio.to_thread.run_sync(self.history.close)

    def _system_prompt(self, tools: Sequence[Tool]) -> str:
        notes = [ToolNote(tool.name, tool.snippet, tool.guidelines) for tool in tools]
        prompt = build_system_prompt(self._parts.gather(), notes)
        self._talk.fixed = estimate_text(prompt) + sum(
            estimate_text(f"{tool.name}{tool.description}{tool.spec.schema}") for tool in tools
        )
        return prompt

    async def _check(
        self, call: ToolCall, tool: Tool, args: BaseModel
    ) -> Blocked | BaseModel | None:
        self._emit(ToolPending(call))
        verdict = await self.gate.check(call, tool, args)
        return verdict.args if isinstance(verdict, Allowed) else Blocked(verdict.reason)

    def _asking(self) -> None:
        """A question to people was opened or has its answer."""
        if self._pulse.phase in ("running", "requires_action"):
            self._pulse.set("requires_action" if self.gate.open else "running")

    def _answered(self) -> None:
        self._compactor.answered = True

    def _queue_changed(self) -> None:
        self._runner.steer()
        self._emit(QueueChanged(self.queue.items, self.queue.version))

    def _tell_config(self) -> None:
        self._emit(
            ConfigChanged(
                self.choice.ref,
                self.choice.thinking,
                self.history.name,
                tuple(tool.name for tool in self.choice.tools),
                self.gate.mode,
            )
        )

    def _restore_partial(self, left: tuple[str, AssistantMessage] | None) -> None:
        """An answer that a crash cut off becomes an entry marked as aborted."""
        if left is None or self.history.read_only:
            return
        entry_id, message = left
        if message.content and not self._knows(entry_id):
            message = message.model_copy(update={"stop_reason": "aborted"})
            self.history.append(MessageEntry(message=message), id=entry_id)

    def _knows(self, entry_id: str) -> bool:
        try:
            self.history.entry(entry_id)
        except UnknownEntry:
            return False
        return True
