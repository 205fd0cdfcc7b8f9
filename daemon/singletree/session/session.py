"""AgentSession: one session, as doors and the host have it.

It turns a path of the tree into messages for the agent, and the agent's events into entries of the
tree. Never knows JSON-RPC, a URI or an editor. Read next: wiring.py (its parts), turn/turns.py
(saying something), tree/compactor.py and tree/navigation.py (forgetting, going elsewhere),
extensions/hooks.py.
"""

from __future__ import annotations

from typing import Literal

import anyio
import anyio.to_thread

from singletree.agent.tool import ToolOutput
from singletree.errors import SessionError, SingletreeError, UnknownEntry
from singletree.extensions.api import BeforeFork, BeforeSwitch, Cancel, SessionStart
from singletree.history.entries import MessageEntry
from singletree.messages import ToolCall
from singletree.session.commands.builtin import builtin_commands
from singletree.session.commands.user_input import UserInput
from singletree.session.dependencies import Dependencies
from singletree.session.events import CompactionResult
from singletree.session.permission.gate import Mode
from singletree.session.pictures import fitted
from singletree.session.settings.layers import Layers
from singletree.session.state import ContextUse, LiveAnswer, SessionState
from singletree.session.tree.completion import complete_with
from singletree.session.tree.navigation import Navigated, Summing, Wish, check_leaf, navigate
from singletree.session.tree.tool_calls import call_in, output_in
from singletree.session.tree.xray import Sight, sight, spot
from singletree.session.turn.partials import drop_partial, read_partial
from singletree.session.turn.stops import Stops
from singletree.session.turn.turns import Turns
from singletree.session.wiring import Wiring

__all__ = ["AgentSession", "Dependencies"]

SUMMARY_CANCELLED = "The summary was cancelled; nothing has moved."
NOT_ALLOWED = "An extension does not allow this."


class AgentSession:
    """One conversation.

    `turns` say something, `choice` sets who answers, `queue` holds what waits, `user_bash` runs a
    person's commands, `user_input` knows the slash commands.
    """

    def __init__(self, parts: Dependencies) -> None:
        self._parts = parts
        self._in = inside = Wiring(parts)
        self._talk = inside.talk
        self._phase = inside.phase
        self.history = parts.history
        self.cwd = parts.cwd
        self.gate = parts.gate
        self.queue = inside.queue
        self.choice = inside.choice
        self.user_bash = inside.user_bash
        self.user_input = UserInput(
            inside.hooks,
            parts.gather,
            builtin_commands(self.compact, self.rename, lambda: self.history.name, self.choice),
            lambda: parts.settings().enable_skill_commands,
            lambda said: fitted(said, resize=parts.settings().images.auto_resize),
        )
        self.turns = Turns(
            inside.talk,
            inside.queue,
            self.user_input,
            inside.driver,
            Stops(inside.driver, inside.runner, inside.compactor, inside.user_bash),
            inside.phase,
        )

    @property
    def id(self) -> str:
        """The session's id, the same in its file."""
        return self.history.id

    async def begin(self) -> None:
        """Take up what the last life left: a streamed answer, a queue, the branch's model."""
        inside = self._in
        self._take_tools()
        await self._restore_partial()
        stored = await anyio.to_thread.run_sync(self.queue.load)
        self.queue.restore(stored, self._knows, self.history.free)
        await self.choice.restore()
        start = SessionStart(self._parts.start)
        await inside.hooks.open(inside.actions, start, inside.reload.config(), self.history.leaf)
        inside.reload.take_over()

    async def look_on(self) -> None:
        """Take up the branch's model alone: nothing is begun and nothing changed."""
        self._take_tools()
        await self.choice.restore()

    async def compact(self, instructions: str | None = None) -> CompactionResult:
        """Sum up the older part of the path, by hand."""
        inside = self._in
        await inside.driver.let_end()
        inside.driver.check_idle()
        self._talk.check_writable()
        try:
            await inside.reload.refresh()
            await self.choice.settle()
            await anyio.to_thread.run_sync(self._talk.projection)  # may read a whole path
            inside.driver.check_idle()
            return await inside.compactor.compact(self.choice.model(), instructions)
        finally:
            self._phase.wake()
            inside.driver.released()

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
        driver = self._in.driver
        await driver.let_end()
        driver.check_idle()
        self._talk.check_writable()
        check_leaf(self._talk, expected_leaf_id)
        driver.navigation = anyio.CancelScope()
        if summarize:
            self._phase.set("compacting")
        try:
            with driver.navigation:
                return await navigate(
                    self._talk,
                    self._in.hooks,
                    target,
                    Wish(instructions, replace, label),
                    await self._summing() if summarize else None,
                )
            raise SessionError(SUMMARY_CANCELLED, code="cancelled")
        finally:
            driver.navigation = None
            self._phase.set("idle")
            self._phase.wake()
            driver.released()

    async def check_fork(self, entry_id: str, position: Literal["before", "at"]) -> None:
        """Ask extensions whether a fork may be made. Raises `cancelled_by_extension`."""
        _check((await self._in.hooks.fire(BeforeFork(entry_id, position))).verdict)

    async def check_switch(
        self, reason: Literal["new", "resume"], session_id: str | None = None
    ) -> None:
        """Ask extensions whether another session may take this one's place."""
        _check((await self._in.hooks.fire(BeforeSwitch(reason, session_id))).verdict)

    def label(self, entry_id: str, label: str | None) -> str:
        """Put a bookmark on an entry or take it away; the id of the entry that records it."""
        return self._talk.label(entry_id, label).id

    def rename(self, name: str) -> str | None:
        """Name the session; an empty name takes the name away."""
        self._talk.rename(name)
        self._in.reload.tell_config()
        return self.history.name

    async def sight(self, entry_id: str | None = None) -> Sight:
        """What the model would see at an entry, or at the leaf, with the tools of now."""
        inside, history = self._in, self.history
        around = await inside.system_prompt.frame(tuple(self.choice.tools))
        self._talk.fixed = around.tokens
        at = await anyio.to_thread.run_sync(spot, history, entry_id)
        messages = await inside.hooks.context(at.projection.messages)
        return await anyio.to_thread.run_sync(
            lambda: sight(history, at, around, messages, *inside.room())
        )

    def set_mode(self, mode: Mode) -> None:
        """What is asked before it is done."""
        self.gate.mode = mode
        self._in.reload.tell_config()

    @property
    def layers(self) -> Layers:
        """The settings with their sources, as of the last look."""
        return self._parts.layers()

    async def refresh(self) -> None:
        """Settings have changed: look at them now and not only before the next turn."""
        before = self._parts.settings().default_tools
        await self._in.reload.refresh()
        after = self._parts.settings().default_tools
        active = {tool.name for tool in self.choice.tools}
        if before != after and active == set(before):
            known = {tool.name for tool in self.choice.all_tools}
            self.choice.set_tools([name for name in after if name in known])

    def warn(self, code: str, message: str) -> None:
        """Something a person should know, now and when a client comes later."""
        self._in.notices.warn(code, message)

    @property
    def busy(self) -> bool:
        """Whether anything is on: a turn, a compaction, a navigation, a command by hand."""
        return self.turns.busy or self.user_bash.busy

    @property
    def turn_id(self) -> str | None:
        """The turn that runs."""
        return self._phase.turn_id

    @property
    def live(self) -> LiveAnswer | None:
        """The answer that streams."""
        return self._in.recorder.live

    async def call(self, call_id: str) -> ToolCall | None:
        """A call of a tool, of this turn or of any before."""
        if (live := self._in.recorder.open_calls.get(call_id)) is not None:
            return live
        return await anyio.to_thread.run_sync(call_in, self.history, call_id)

    async def output(self, call_id: str) -> ToolOutput | None:
        """What a call was answered with, also before that is an entry."""
        if (live := self._in.recorder.outputs.get(call_id)) is not None:
            return live
        return await anyio.to_thread.run_sync(output_in, self.history, call_id)

    def state(self) -> SessionState:
        """Everything a client needs to draw the session without its history."""
        history = self.history
        return SessionState(
            session_id=self.id,
            cwd=self.cwd,
            path=history.file if history.on_disk else None,
            name=history.name,
            phase=self._phase.now,
            turn_id=self._phase.turn_id,
            model=self.choice.ref,
            images=self.choice.images,
            thinking=self.choice.thinking,
            tools=tuple(tool.name for tool in self.choice.tools),
            mode=self.gate.mode,
            queue=self.queue.items,
            queue_version=self.queue.version,
            leaf_id=history.leaf,
            tree_version=history.tree_version,
            entry_count=history.entry_count,
            message_count=history.speaking_count(),
            context=self.context_use(),
            trusted=self._parts.trust().trusted,
            skipped=self._parts.trust().left_aside,
            read_only=history.read_only,
            notices=self._in.notices.all,
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
        await self.turns.close()
        with anyio.CancelScope(shield=True):
            try:
                await self.user_bash.close()
                await self._in.hooks.close()
                await self.gate.close()
                await self._in.driver.save_queue(last=True)
                await anyio.to_thread.run_sync(self.history.sync)
            finally:
                await anyio.to_thread.run_sync(self.history.close)

    async def _summing(self) -> Summing:
        await self._in.reload.refresh()
        await self.choice.settle()
        model = self.choice.model()
        return Summing(
            complete_with(model, self.choice.thinking, lambda text: None),
            model.info.context_window,
            self._parts.settings().branch_summary.reserve_tokens,
        )

    def _take_tools(self) -> None:
        parts = self._parts
        self.choice.tools = tuple(tool for tool in parts.tools if tool.name in parts.active)

    async def _restore_partial(self) -> None:
        """An answer that a crash cut off becomes an entry marked as aborted."""
        if self.history.read_only:
            return
        partial = self._in.recorder.partial
        left = await anyio.to_thread.run_sync(read_partial, partial)
        if left is not None and left[1].content and not self._knows(left[0]):
            message = left[1].model_copy(update={"stop_reason": "aborted"})
            self.history.append(MessageEntry(message=message), id=self.history.free(left[0]))
            await anyio.to_thread.run_sync(self.history.sync)
        await anyio.to_thread.run_sync(drop_partial, partial)

    def _knows(self, entry_id: str) -> bool:
        try:
            self.history.entry(entry_id)
        except UnknownEntry:
            return False
        return True


def _check(verdict: object) -> None:
    if isinstance(verdict, Cancel):
        raise SessionError(verdict.reason or NOT_ALLOWED, code="cancelled_by_extension")
