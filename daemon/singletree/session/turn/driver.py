"""Drives the turns of one session, one after the other, and begins those that what waits asks for.

A turn belongs to the session: cancelling the request that began it changes nothing. Between the
last look at what waits and being idle nothing is awaited, so no text can fall between two turns.
Never knows what a turn does inside. Read next: runner.py (which does), turns.py (how people speak).
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint

from singletree.errors import SessionBusy, SingletreeError, UnknownSession
from singletree.extensions.api import Deliver
from singletree.history.entries import MessageEntry
from singletree.messages import Block, CustomMessage, UserMessage
from singletree.session.events import Cause, SessionEvent, Settled, Warned
from singletree.session.extensions.hooks import Hooks
from singletree.session.extensions.messages import ExtensionMessage, ExtensionMessages
from singletree.session.model_choice import ModelChoice, Override
from singletree.session.state import Accepted, LastTurn
from singletree.session.tree.compactor import Compactor
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.phase import CurrentPhase
from singletree.session.turn.queue import Kind, Queue, message_of, user_message
from singletree.session.turn.runner import Runner
from singletree.session.turn.system_prompt import custom_entry
from singletree.session.turn.turn import Turn

Spawn = Callable[[Callable[[], Awaitable[None]]], None]

END_LIMIT = 5.0
"""Seconds a request waits while a turn that has ended is put away; extensions have a say there."""

BUSY = "A turn is running: steer it, queue the message, or stop the turn first."
SUMMING = "A summary is being made: queue the message, or stop the summary first."
CLOSED = "The session is being closed; open it again."
NOT_BEGUN = "What waits could not be said: {why}"

_FIRST: tuple[tuple[Kind, Cause], ...] = (("steer", "steer"), ("followUp", "followUp"))


class Driver:
    """The turns of one session. `navigation`: the scope of one that is on; `closed`: no more begin.

    After an aborted or failed turn what people have queued is held: it is not said before they
    prompt again.
    """

    def __init__(
        self,
        talk: Conversation,
        queue: Queue,
        extension_messages: ExtensionMessages,
        choice: ModelChoice,
        runner: Runner,
        compactor: Compactor,
        hooks: Hooks,
        phase: CurrentPhase,
        emit: Callable[[SessionEvent], None],
        spawn: Spawn,
    ) -> None:
        self._talk = talk
        self._queue = queue
        self._extension_messages = extension_messages
        self._choice = choice
        self._runner = runner
        self._compactor = compactor
        self._hooks = hooks
        self._phase = phase
        self._emit = emit
        self._spawn = spawn
        self._saving = anyio.Lock()
        self._held = False
        self._saved = False
        self.closed = False
        self.turn: Turn | None = None
        self.last: LastTurn | None = None
        self.navigation: anyio.CancelScope | None = None

    @property
    def busy(self) -> bool:
        """Whether a turn, a compaction or a navigation is on."""
        return self.turn is not None or self._compactor.busy or self.navigation is not None

    async def let_end(self) -> None:
        """Wait while a turn that has ended is put away, as long as that is no compaction."""
        with anyio.move_on_after(END_LIMIT):
            await self._phase.until(
                lambda: self.turn is None or not self.turn.over or self._compactor.busy
            )

    def check_idle(self) -> None:
        """Raise SessionBusy unless nothing is on."""
        self.check_open()
        if self.busy:
            raise SessionBusy(
                SUMMING if self.turn is None else BUSY,
                detail={"phase": self._phase.now, "turnId": self._phase.turn_id},
            )

    def check_open(self) -> None:
        """Raise where the session is being closed: what is said now would be lost."""
        if self.closed:
            raise UnknownSession(CLOSED)

    async def start(
        self,
        cause: Cause,
        content: Sequence[Block],
        client_id: str | None = None,
        override: Override | None = None,
    ) -> Accepted:
        """Begin a turn with a person's text. Returns when it is on the disk."""
        entry_id = self._talk.history.mint()

        def say() -> Cause:
            self._talk.bring_in()
            self._say_waiting("steer")
            self._say(entry_id, user_message(content, client_id))
            for message in self._extension_messages.take_with_prompt():
                self._talk.put_off(custom_entry(message.message), id=message.entry_id)
            self._talk.bring_in()
            return cause

        turn = self._begin(cause)
        self._choice.override = override or Override()
        await self._open(turn, say)
        self._held = False
        self._spawn(lambda: self._drive(turn))
        return Accepted("started", turn.id, None, entry_id)

    def deliver(self, message: CustomMessage, deliver_as: Deliver, *, trigger: bool) -> None:
        """An extension's message: with the next prompt, into the running turn, or at once."""
        self._talk.check_writable()
        if deliver_as == "nextTurn" or self.busy or trigger:
            self._extension_messages.put(message, deliver_as, trigger=trigger)
            if trigger:
                self._spawn(self._go_on)
        else:
            self._talk.add(custom_entry(message))

    def released(self) -> None:
        """A compaction or a navigation is over: what came meanwhile gets its due."""
        if self.busy:
            return
        self._talk.bring_in()
        self._say_messages(self._extension_messages.take_late())
        if not self._held:
            self._spawn(self._go_on)

    async def save_queue(self, *, last: bool = False) -> None:
        """What waits is on the disk. After the `last` time the file is another life's."""
        async with self._saving:
            if not self._saved:
                await anyio.to_thread.run_sync(self._queue.store)
                self._saved = last

    async def _go_on(self) -> None:
        """Begin a turn for what waits, if nothing is on and anything there may begin one."""
        if self.busy or not self._begins():
            return
        turn = self._begin("extension")
        try:
            begun = await self._open(turn, self._say_next)
        except SingletreeError as error:
            self._emit(Warned(error.code, NOT_BEGUN.format(why=error.message)))
            return
        if begun:
            await self._drive(turn)

    def _begins(self) -> bool:
        if self.closed:
            return False
        return self._extension_messages.begins or (not self._held and self._queue.begins)

    async def _open(self, turn: Turn, say: Callable[[], Cause | None]) -> bool:
        """Find out who answers, say what there is to say, and have it on the disk.

        What is an entry has been said: if the disk cannot promise to keep it, that is told, and the
        turn goes on. False: meanwhile all of it was taken back.
        """
        try:
            with anyio.CancelScope(shield=True):
                await self._choice.settle()
                self._choice.record()
                waiting = self._queue.version
                cause = say()
                if cause is None:
                    self._end()
                    return False
                turn.cause = cause
                await self._keep(queue=self._queue.version != waiting)
        except BaseException:
            self._end()
            raise
        return True

    async def _drive(self, turn: Turn) -> None:
        """This turn, and those that what waits begins."""
        current: Turn | None = turn
        try:
            await checkpoint()  # the answer to the request leaves before the turn's first event
            while current is not None:
                await self._runner.run(current)
                self.last = LastTurn(current.id, current.reason, current.error)
                self._choice.override = Override()
                self._phase.wake()
                good = current.reason not in ("aborted", "error") and await self._rest(current)
                await self._keep()
                if not good or current.stopped:
                    self._held = True
                    break
                current = self._next()
        finally:
            self._end()
            self._emit(Settled())

    async def _rest(self, turn: Turn) -> bool:
        """Between two turns: extensions hear of the one, and the context is made to fit again."""
        with turn.scope() as scope:
            await self._hooks.caught_up()
            try:
                await self._compactor.fit(self._choice.model())
            except SingletreeError as error:  # the model cannot be used any more
                self._emit(Warned(error.code, error.message))
        return not (turn.stopped or scope.cancelled_caught)

    async def _keep(self, *, queue: bool = True) -> None:
        """What was said is on the disk. A full disk is told, and the next prompt tries again."""
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(self._talk.history.sync)
                if queue:
                    await self.save_queue()
            except SingletreeError as error:
                self._emit(Warned(error.code, error.message))

    def _next(self) -> Turn | None:
        """The turn that what waits begins."""
        try:
            self._talk.bring_in()
            self._say_messages(self._extension_messages.take_late())
            cause = self._say_next()
        except SingletreeError as error:
            self._emit(Warned(error.code, NOT_BEGUN.format(why=error.message)))
            return None
        return None if cause is None else self._begin(cause)

    def _say_next(self) -> Cause | None:
        """Steering that came too late, then follow-ups, then what extensions want said."""
        for kind, cause in _FIRST:
            if not self._held and self._say_waiting(kind):
                return cause
        messages = self._extension_messages.take_beginning()
        self._say_messages(messages)
        return "extension" if messages else None

    def _begin(self, cause: Cause) -> Turn:
        self.turn = Turn(secrets.token_hex(4), cause)
        self._phase.turn_id = self.turn.id
        self._phase.wake()
        return self.turn

    def _end(self) -> None:
        self._choice.override = Override()
        self.turn = None
        self._phase.turn_id = None
        self._phase.set("idle")
        self._phase.wake()
        self._talk.bring_in()

    def _say_waiting(self, kind: Kind) -> bool:
        """Say what is next of a kind. Each stays in the queue until it is an entry."""
        waiting = self._queue.next(kind)
        for item in waiting:
            self._say(item.entry_id, message_of(item))
            self._queue.said(item.entry_id)
        return bool(waiting)

    def _say(self, entry_id: str, message: UserMessage) -> None:
        self._talk.add(MessageEntry(message=message), id=entry_id)

    def _say_messages(self, messages: Sequence[ExtensionMessage]) -> None:
        for message in messages:
            self._talk.add(custom_entry(message.message), id=message.entry_id)
