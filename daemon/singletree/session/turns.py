"""Saying something: what becomes of a prompt, a steering text, a follow-up; how they are stopped.

An accepted text is on the disk before its sender hears that it was accepted. From then on its turn
belongs to the session: cancelling the request changes nothing. Between the last look at the queue
and being idle nothing is awaited, so no text can fall between two turns. Never knows what a turn
does inside. Read next: runner.py (which does), queue.py (what waits).
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint

from singletree.errors import SessionBusy, SessionError, SingletreeError, StaleError
from singletree.history.entries import MessageEntry
from singletree.messages import Block, Image, Text, UserMessage
from singletree.session.choice import Choice, Override
from singletree.session.conversation import Conversation
from singletree.session.events import Cause, QueueItem, SessionEvent, Settled
from singletree.session.memory import Compactor
from singletree.session.pulse import Pulse
from singletree.session.queue import Kind, Queue, said_in
from singletree.session.runner import Runner, Turn
from singletree.session.state import Aborted, Accepted, LastTurn

WhenBusy = Literal["error", "steer", "followUp"]
WhenIdle = Literal["prompt", "queue", "error"]
Scope = Literal["turn", "tool", "retry", "compaction", "branchSummary", "bash"]
Said = Sequence[Text | Image]
Spawn = Callable[[Callable[[], Awaitable[None]]], None]

ABORT_LIMIT = 5.0
"""Seconds after which an abort is answered as forced (protocol.md, agent/abort)."""

REMEMBERED = 1000
"""Client message ids whose answer is given again."""

EMPTY = "The message is empty; write something or attach a picture."
BUSY = "A turn is running: steer it, queue the message, or stop the turn first."
NOT_STEERABLE = "A summary is being made and cannot be steered; queue a follow-up instead."
NO_TURN = "No turn is running."
OTHER_TURN = "Another turn is running than the one that was meant."

_FIRST: tuple[tuple[Kind, Cause], ...] = (("steer", "steer"), ("followUp", "followUp"))


class Turns:
    """The turns of one session, one after the other."""

    def __init__(
        self,
        talk: Conversation,
        queue: Queue,
        choice: Choice,
        runner: Runner,
        compactor: Compactor,
        pulse: Pulse,
        emit: Callable[[SessionEvent], None],
        spawn: Spawn,
    ) -> None:
        self._talk = talk
        self._queue = queue
        self._choice = choice
        self._runner = runner
        self._compactor = compactor
        self._pulse = pulse
        self._emit = emit
        self._spawn = spawn
        self._turn: Turn | None = None
        self._saving = anyio.Lock()
        self._answers: dict[str, Accepted] = {}
        self._saying: dict[str, anyio.Event] = {}
        self.navigation: anyio.CancelScope | None = None
        self.last: LastTurn | None = None

    @property
    def busy(self) -> bool:
        """Whether a turn, a compaction or a navigation is on."""
        return self._turn is not None or self._compactor.busy or self.navigation is not None

    def check_idle(self) -> None:
        """Raise SessionBusy unless nothing is on."""
        if self.busy:
            raise SessionBusy(
                BUSY, detail={"phase": self._pulse.phase, "turnId": self._pulse.turn_id}
            )

    async def prompt(
        self,
        content: Said,
        *,
        when_busy: WhenBusy = "error",
        client_message_id: str | None = None,
        override: Override | None = None,
    ) -> Accepted:
        """Start a turn. Returns when the message is on the disk; the turn goes on by itself."""

        async def say() -> Accepted:
            if not self.busy:
                return await self._start("prompt", content, client_message_id, override)
            if when_busy == "error":
                self.check_idle()
            kind: Kind = "steer" if when_busy == "steer" else "followUp"
            return await self._enqueue(kind, content, client_message_id)

        return await self._once(client_message_id, content, say)

    async def steer(
        self,
        content: Said,
        *,
        client_message_id: str | None = None,
        expected_turn_id: str | None = None,
        when_idle: WhenIdle = "prompt",
    ) -> Accepted:
        """Put a text into the running turn: it is heard before the next step."""
        self._expect(expected_turn_id)

        async def say() -> Accepted:
            if self._turn is not None or (when_idle == "queue" and not self.busy):
                return await self._enqueue("steer", content, client_message_id)
            if self.busy:
                raise SessionError(
                    NOT_STEERABLE, code="not_steerable", detail={"phase": self._pulse.phase}
                )
            if when_idle == "error":
                raise SessionError(NO_TURN, code="no_active_turn")
            return await self._start("steer", content, client_message_id)

        return await self._once(client_message_id, content, say)

    async def follow_up(self, content: Said, *, client_message_id: str | None = None) -> Accepted:
        """Say it when the present turn is over; when nothing runs, now."""

        async def say() -> Accepted:
            if self.busy:
                return await self._enqueue("followUp", content, client_message_id)
            return await self._start("followUp", content, client_message_id)

        return await self._once(client_message_id, content, say)

    async def abort(
        self,
        scope: Scope = "turn",
        *,
        turn_id: str | None = None,
        queue: Literal["keep", "return", "drop"] = "keep",
    ) -> Aborted:
        """End what runs and wait for its end. Waiting texts are kept, handed back or dropped.

        What is kept is not sent by itself: it goes before the next prompt.
        """
        self._expect(turn_id)
        stopped = self._stop(scope)
        if stopped:
            with anyio.move_on_after(ABORT_LIMIT):
                await self._pulse.until(lambda: not self._runs(scope))
        back: list[QueueItem] = []
        if queue != "keep":
            back = self._queue.clear()
            await self.save_queue()
        forced = stopped and self._runs(scope)
        return Aborted(stopped and not forced, forced, tuple(back) if queue == "return" else ())

    async def wait(self, until: Literal["idle", "settled"] = "settled") -> LastTurn | None:
        """Wait until no turn runs (idle) or nothing automatic remains; how the last turn ended."""
        if until == "idle":
            await self._pulse.until(lambda: self._turn is None or self._turn.over)
        else:
            await self._pulse.until(lambda: not self.busy)
        return self.last

    async def save_queue(self) -> None:
        """What waits is on the disk."""
        async with self._saving:
            await anyio.to_thread.run_sync(self._queue.store)

    async def _once(
        self, client_id: str | None, content: Said, say: Callable[[], Awaitable[Accepted]]
    ) -> Accepted:
        """Say it, unless the same client message id was said already: then the first answer."""
        if not any(not isinstance(b, Text) or b.text.strip() for b in content):
            raise SingletreeError(EMPTY, code="input_empty")
        self._talk.check_writable()
        if client_id is None:
            return await say()
        while (saying := self._saying.get(client_id)) is not None:
            await saying.wait()
        if (known := self._answers.get(client_id)) is not None:
            return known
        self._saying[client_id] = done = anyio.Event()
        try:
            answer = self._answers[client_id] = await say()
        finally:
            del self._saying[client_id]
            done.set()
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
        return answer

    async def _start(
        self,
        cause: Cause,
        content: Said,
        client_id: str | None = None,
        override: Override | None = None,
    ) -> Accepted:
        turn = self._begin(cause)
        self._choice.override = override or Override()
        entry_id = self._talk.history.mint()
        try:
            with anyio.CancelScope(shield=True):
                await self._choice.settle()
                self._choice.record()
                waited = self._take("steer")
                for waiting_id, text in waited:
                    self._say(waiting_id, text)
                self._say(entry_id, content, client_id)
                await anyio.to_thread.run_sync(self._talk.history.sync)
                if waited:
                    await self.save_queue()
        except BaseException:
            self._end()
            raise
        self._spawn(lambda: self._drive(turn))
        return Accepted("started", turn.id, None, entry_id)

    async def _enqueue(self, kind: Kind, content: Said, client_id: str | None) -> Accepted:
        blocks = [block.dump() for block in content]
        item = self._queue.add(kind, self._talk.history.mint(), blocks, client_id)
        with anyio.CancelScope(shield=True):
            await self.save_queue()
        steered = kind == "steer" and self._turn is not None
        return Accepted(
            "injected" if steered else "queued",
            self._pulse.turn_id,
            item.queue_id,
            item.entry_id,
            self._queue.position(item.queue_id),
        )

    async def _drive(self, turn: Turn) -> None:
        """This turn, and those that what waits begins."""
        current: Turn | None = turn
        try:
            await checkpoint()  # the answer to the request leaves before the turn's first event
            while current is not None:
                await self._runner.run(current)
                self.last = LastTurn(current.id, current.reason, current.error)
                self._choice.override = Override()
                self._pulse.wake()
                if current.reason in ("aborted", "error"):
                    break
                with current.scope() as scope:
                    await self._compactor.fit(self._choice.model())
                if scope.cancelled_caught:
                    break
                current = self._next()
                if current is not None:
                    await anyio.to_thread.run_sync(self._talk.history.sync)
            with anyio.CancelScope(shield=True):
                await self.save_queue()
        finally:
            self._end()
            self._emit(Settled())

    def _next(self) -> Turn | None:
        """The turn that what waits begins: steering that came too late, then follow-ups."""
        for kind, cause in _FIRST:
            waited = self._take(kind)
            if waited:
                for entry_id, content in waited:
                    self._say(entry_id, content)
                return self._begin(cause)
        return None

    def _begin(self, cause: Cause) -> Turn:
        self._turn = Turn(secrets.token_hex(4), cause)
        self._pulse.turn_id = self._turn.id
        return self._turn

    def _end(self) -> None:
        self._turn = None
        self._pulse.turn_id = None
        self._pulse.set("idle")
        self._pulse.wake()

    def _take(self, kind: Kind) -> list[tuple[str, Sequence[Block]]]:
        return [(item.entry_id, said_in(item)) for item in self._queue.take(kind)]

    def _say(self, entry_id: str, content: Sequence[Block], client_id: str | None = None) -> None:
        message = UserMessage(content=list(content))
        if client_id is not None:
            message = UserMessage.model_validate({**message.dump(), "clientMessageId": client_id})
        self._talk.add(MessageEntry(message=message), id=entry_id)

    def _expect(self, turn_id: str | None) -> None:
        if turn_id is not None and turn_id != self._pulse.turn_id:
            raise StaleError(
                OTHER_TURN, code="turn_mismatch", detail={"turnId": self._pulse.turn_id}
            )

    def _stop(self, scope: Scope) -> bool:
        match scope:
            case "turn":
                if self._turn is not None:
                    self._turn.stop()
                return self._turn is not None
            case "retry":
                return self._runner.retries.cancel()
            case "compaction":
                return self._compactor.cancel()
            case "branchSummary":
                if self.navigation is not None:
                    self.navigation.cancel()
                return self.navigation is not None
            case "tool" | "bash":
                return False

    def _runs(self, scope: Scope) -> bool:
        match scope:
            case "turn":
                return self._turn is not None
            case "retry":
                return self._runner.retries.waiting
            case "compaction":
                return self._compactor.busy
            case "branchSummary":
                return self.navigation is not None
            case "tool" | "bash":
                return False
