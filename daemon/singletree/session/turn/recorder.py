"""What becomes of the agent's events: ended messages are entries before anybody is told of them.

Between a steering text leaving the queue and its entry being in the file nothing is awaited, so it
is always in exactly one of the two. Never starts a run. Read next: runner.py, partials.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from singletree.agent.draft import Draft
from singletree.agent.events import AgentEvent
from singletree.agent.tool import ToolOutput
from singletree.errors import SessionError
from singletree.history.entries import Entry, MessageEntry
from singletree.messages import AssistantMessage, CustomMessage, ToolCall, ToolResultMessage, Usage
from singletree.model.base import ModelInfo
from singletree.session.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    SessionEvent,
    ToolEnded,
    ToolStarted,
    UsageChanged,
    Warned,
)
from singletree.session.extensions.messages import ExtensionMessages
from singletree.session.state import LiveAnswer
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.partials import EVERY, FIRST, drop_partial, write_partial
from singletree.session.turn.queue import Queue
from singletree.session.turn.system_prompt import custom_entry


class Recorder:
    """Hears one session's agent."""

    def __init__(
        self,
        talk: Conversation,
        queue: Queue,
        extension_messages: ExtensionMessages,
        partial: Path,
        info: Callable[[], ModelInfo],
        answered: Callable[[], None],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._talk = talk
        self._queue = queue
        self._extension_messages = extension_messages
        self.partial = partial
        self._info = info
        self._answered = answered
        self._emit = emit
        self._draft: tuple[str, Draft] | None = None
        self._fresh = anyio.Event()
        """Since the last look at it the answer has grown or ended."""
        self._on_disk: str | None = None
        self._unwritten: LiveAnswer | None = None
        self._told_not_kept = False
        self.open_calls: dict[str, ToolCall] = {}
        self.outputs: dict[str, ToolOutput] = {}
        """Answers of calls that are no entries yet: they become entries in the order of calls."""
        self.usage = Usage()
        self.last: tuple[str, AssistantMessage] | None = None

    def begin(self) -> None:
        """A turn begins: count its tokens anew."""
        self.usage = Usage()
        self.last = None
        self.outputs.clear()

    @property
    def live(self) -> LiveAnswer | None:
        """The answer that streams, as far as it came."""
        if self._draft is None:
            return None
        entry_id, draft = self._draft
        return LiveAnswer(entry_id, draft.message())

    def record(self, event: AgentEvent) -> None:
        """One event of the agent: keep what it brings, then pass it on."""
        match event:
            case MessageStarted(id=entry_id, message=AssistantMessage()):
                self._draft = (entry_id, Draft(self._info()))
            case MessageDelta(event=delta) if self._draft is not None:
                self._draft[1].feed(delta)
                self._fresh.set()
            case MessageEnded():
                self._ended(event)
                return
            case ToolStarted(call=call):
                self.open_calls[call.id] = call
            case ToolEnded(call=call, output=output):
                self.open_calls.pop(call.id, None)
                self.outputs[call.id] = output
            case _:
                pass
        self._emit(event)

    async def keep_partials(self) -> None:
        """While a turn runs: what streamed reaches the disk within a second."""
        while True:
            await self._fresh.wait()
            if self._draft is not None:
                await anyio.sleep(EVERY if self._draft[0] == self._on_disk else FIRST)
            self._fresh = anyio.Event()
            if (live := self.live) is None:
                await self.settle_partial()
                continue
            self._on_disk = live.entry_id
            try:
                await anyio.to_thread.run_sync(
                    write_partial, self.partial, live.entry_id, live.message
                )
            except SessionError as error:
                self._tell_not_kept(error)

    async def settle_partial(self) -> None:
        """The copy beside the session goes, unless the answer could not become an entry."""
        seen, self._unwritten = self._unwritten, None
        if seen is not None:
            self._on_disk = None
            with anyio.CancelScope(shield=True), suppress(SessionError):
                await anyio.to_thread.run_sync(
                    write_partial, self.partial, seen.entry_id, seen.message
                )
        elif self._on_disk is not None and self._draft is None:
            self._on_disk = None
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(drop_partial, self.partial)

    def _tell_not_kept(self, error: SessionError) -> None:
        """Told once: the answer goes on, it only would not survive a crash."""
        if not self._told_not_kept:
            self._told_not_kept = True
            self._emit(Warned(error.code, error.message))

    def _ended(self, event: MessageEnded) -> None:
        message = event.message
        answer = message if isinstance(message, AssistantMessage) else None
        if answer is not None:
            self._draft = None
            self._fresh.set()
        self._add(event, answer)
        if isinstance(message, ToolResultMessage):
            self.outputs.pop(message.tool_call_id, None)
        self._queue.said(event.id)
        self._extension_messages.said(event.id)
        if answer is not None:
            self.last = (event.id, answer)
            if not answer.failed:
                self._answered()
            self.usage += answer.usage
            self._emit(UsageChanged(self._talk.tokens(), self._info().context_window, answer.usage))

    def _add(self, event: MessageEnded, answer: AssistantMessage | None) -> None:
        """The message becomes an entry. An answer that people have seen does later if need be."""
        match event.message:
            case CustomMessage() as custom:
                entry: Entry = custom_entry(custom)
            case message:
                entry = MessageEntry(message=message)
        try:
            self._talk.add(entry, id=event.id, first=event)
        except SessionError:
            if answer is not None:
                self._unwritten = LiveAnswer(event.id, answer)
                self._talk.put_off(entry, id=event.id)
            raise
