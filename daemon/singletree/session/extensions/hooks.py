"""The extensions of one session as the session calls them: before things happen, and after.

Asking waits for the answer; telling does not: what happened goes into a list that one task works
off in order, and whoever must not run ahead of it waits for `caught_up`. Where there is no
extension nothing of this costs anything. Never decides what an answer does to the session. Read
next: ../../extensions/api.py (what an extension hears and may answer), ../actions.py (what it may
do), payloads.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import anyio
from pydantic import BaseModel

from singletree.agent.config import Blocked
from singletree.agent.tool import Tool, ToolOutput, parse_args, values_of
from singletree.errors import ExtensionError, ToolError, in_words
from singletree.extensions.api import (
    Actions,
    Block,
    Command,
    Context,
    ExtensionAPI,
    Payload,
    SessionShutdown,
    SessionStart,
    ToolCalled,
    ToolCalling,
)
from singletree.extensions.descriptors import mend
from singletree.extensions.runner import Extensions, Failure, Fired
from singletree.messages import AgentMessage, ToolCall
from singletree.session.events import ConfigChanged, ExtensionFailed, SessionEvent
from singletree.session.extensions.payloads import Payloads

P = TypeVar("P", bound=Payload)

START_WAIT = 2.0
"""Seconds that opening a session waits for extensions; what takes longer goes on behind it."""
FAREWELL = 1.0
"""Seconds that closing one waits for them."""

COMMAND_FAILED = "The command /{name} failed ({why})."
BAD_CHANGE = "Not run: an extension changed the arguments of this call to some it does not take. {}"


class Hooks:
    """The extensions of one session. `limit`: seconds one handler may take, None for no limit."""

    def __init__(
        self,
        extensions: Sequence[ExtensionAPI],
        limit: Callable[[], float | None],
        emit: Callable[[SessionEvent], None],
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._extensions = Extensions(extensions, self._failed, limit)
        self._emit = emit
        self._spawn = spawn
        self._payloads = Payloads()
        self._to_tell: deque[tuple[Payload, Sequence[ExtensionAPI] | None]] = deque()
        self._telling = False
        self._told = anyio.Event()
        self._closed = False

    @property
    def present(self) -> bool:
        """Whether there is any."""
        return self._extensions.present

    @property
    def tools(self) -> Sequence[Tool]:
        """What they offer to the model."""
        return self._extensions.tools

    @property
    def commands(self) -> Mapping[str, Command]:
        """What they offer to people."""
        return self._extensions.commands

    async def open(
        self, actions: Actions, start: SessionStart, config: ConfigChanged, leaf: str | None
    ) -> None:
        """From now on they may act; `config` and `leaf` are what changes are told against."""
        self._payloads.config, self._payloads.leaf = config, leaf
        self._extensions.open(actions)
        self.tell(start)
        await self.caught_up(START_WAIT)

    async def exchange(
        self,
        old: Sequence[ExtensionAPI],
        new: Sequence[ExtensionAPI],
        config: ConfigChanged,
        leaf: str | None,
    ) -> None:
        """Some go and others come while the session goes on."""
        with anyio.move_on_after(FAREWELL):
            await self._extensions.dismiss(old, SessionShutdown("reload"))
        if self._closed:
            for extension in new:
                extension.drop()
            return
        if not self.present:
            self._payloads.config, self._payloads.leaf = config, leaf
        self._extensions.admit(new)
        self.tell(SessionStart("reload"), new)

    async def close(self) -> None:
        """Take leave of them; whatever they try from now on fails."""
        self._closed = True
        with anyio.move_on_after(FAREWELL) as clock:
            await self.caught_up()
        self._to_tell.clear()
        with anyio.CancelScope(deadline=clock.deadline):
            await self._extensions.close(SessionShutdown("quit"))

    # Telling

    def hear(self, event: SessionEvent) -> None:
        """An event of the session: tell it to whoever wants to know."""
        if self.present:
            for payload in self._payloads.told(event):
                self.tell(payload)

    def tell(self, payload: Payload, to: Sequence[ExtensionAPI] | None = None) -> None:
        """Tell it, to all or to some, behind what was told before, without waiting."""
        if not self.hears(type(payload)):
            return
        self._to_tell.append((payload, to))
        if not self._telling:
            self._telling = True
            self._spawn(self._tell_all)

    async def caught_up(self, within: float | None = None) -> None:
        """Wait until they have heard all that was told."""
        with anyio.move_on_after(within):
            while self._telling:
                await self._told.wait()

    async def _tell_all(self) -> None:
        try:
            while self._to_tell:
                await self._extensions.fire(*self._to_tell.popleft())
        finally:
            self._telling = False
            self._told.set()
            self._told = anyio.Event()

    # Asking

    def hears(self, kind: type[Payload]) -> bool:
        """Whether anybody would answer."""
        return self._extensions.hears(kind)

    async def fire(self, payload: P) -> Fired[P]:
        """What they make of it."""
        return await self._extensions.fire(payload)

    async def run(self, command: Command, words: str) -> str | None:
        """A command of theirs. Raises `extension_failed` where it fails."""
        try:
            answer: object = await command.run(words)
        except Exception as error:
            told = in_words(error)
            self._emit(ExtensionFailed(command.name, "command", told))
            raise ExtensionError(COMMAND_FAILED.format(name=command.name, why=told)) from error
        finally:
            mend()
        return None if answer is None else str(answer)

    async def context(self, messages: Sequence[AgentMessage]) -> Sequence[AgentMessage]:
        """What the next request is made from."""
        if not self.hears(Context):
            return messages
        return (await self.fire(Context(tuple(messages)))).payload.messages

    async def calling(
        self, call: ToolCall, tool: Tool, args: BaseModel
    ) -> Blocked | tuple[ToolCall, BaseModel]:
        """A no, or the call as they leave it; a guard that fails is a no."""
        if not self.hears(ToolCalling):
            return call, args
        given = values_of(args)
        fired = await self.fire(ToolCalling(call.id, tool.name, given))
        if isinstance(fired.verdict, Block):
            return Blocked(fired.verdict.reason)
        if fired.payload.args == given:
            return call, args
        changed = call.model_copy(update={"arguments": dict(fired.payload.args)})
        try:
            return changed, parse_args(tool, changed)
        except ToolError as error:
            return Blocked(BAD_CHANGE.format(error.message))

    async def called(
        self, call: ToolCall, tool: Tool, args: BaseModel, output: ToolOutput
    ) -> ToolOutput | None:
        """The output as they leave it; None where they leave it as it is."""
        if not self.hears(ToolCalled):
            return None
        told = ToolCalled(
            call.id, tool.name, values_of(args), output.content, output.details, output.is_error
        )
        left = (await self.fire(told)).payload
        return None if left is told else ToolOutput(left.content, left.details, left.is_error)

    def _failed(self, failure: Failure) -> None:
        self._emit(ExtensionFailed(failure.extension, failure.event, failure.message))
