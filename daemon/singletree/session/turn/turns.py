"""How people speak with a session: what becomes of a prompt, a steering text, a follow-up.

An accepted text is on the disk before its sender hears that it was accepted. Never knows what a
turn does inside. Read next: ../commands/user_input.py (what a text means), driver.py (how turns
follow one another), queue.py (what waits).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

import anyio
import anyio.to_thread

from singletree.errors import SessionError, SingletreeError, StaleError
from singletree.messages import Text
from singletree.session.commands.user_input import Content, Done, Source, UserInput
from singletree.session.events import QueueItem
from singletree.session.model_choice import Override
from singletree.session.state import Aborted, Accepted, LastTurn
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.driver import Driver
from singletree.session.turn.phase import CurrentPhase
from singletree.session.turn.queue import Kind, Queue
from singletree.session.turn.repeats import Repeats
from singletree.session.turn.stops import Scope, Stops

WhenBusy = Literal["error", "steer", "followUp"]
WhenIdle = Literal["prompt", "queue", "error"]

ABORT_LIMIT = 5.0
"""Seconds after which an abort is answered as forced (protocol.md, agent/abort)."""

CLOSE_LIMIT = 1.0
"""Seconds that closing waits for each thing that should take none."""

EMPTY = "The message is empty; write something or attach a picture."
NOT_STEERABLE = "A summary is being made and cannot be steered; queue a follow-up instead."
NO_TURN = "No turn is running."
OTHER_TURN = "Another turn is running than the one that was meant."


class Turns:
    """The front of one session's turns."""

    def __init__(
        self,
        talk: Conversation,
        queue: Queue,
        user_input: UserInput,
        driver: Driver,
        stops: Stops,
        phase: CurrentPhase,
    ) -> None:
        self._talk = talk
        self._queue = queue
        self._user_input = user_input
        self._driver = driver
        self._stops = stops
        self._phase = phase
        self._repeats = Repeats(talk, queue)
        self._inside = 0

    @property
    def busy(self) -> bool:
        """Whether a turn, a compaction or a navigation is on."""
        return self._driver.busy

    @property
    def last(self) -> LastTurn | None:
        """How the newest finished turn ended."""
        return self._driver.last

    async def prompt(
        self,
        content: Content,
        *,
        when_busy: WhenBusy = "error",
        client_message_id: str | None = None,
        override: Override | None = None,
    ) -> Accepted:
        """Start a turn. Returns when the message is on the disk; the turn goes on by itself."""

        async def say(heard: Content) -> Accepted:
            await self._driver.let_end()
            if not self.busy:
                return await self._driver.start("prompt", heard, client_message_id, override)
            if when_busy == "error":
                self._driver.check_idle()
            kind: Kind = "steer" if when_busy == "steer" else "followUp"
            return await self._enqueue(kind, heard, client_message_id)

        async def check() -> None:
            if when_busy == "error" and not self._user_input.is_command(content):
                await self._driver.let_end()
                self._driver.check_idle()

        return await self._once(client_message_id, content, "prompt", check, say)

    async def steer(
        self,
        content: Content,
        *,
        client_message_id: str | None = None,
        expected_turn_id: str | None = None,
        when_idle: WhenIdle = "prompt",
    ) -> Accepted:
        """Put a text into the running turn: it is heard before the next step."""

        async def say(heard: Content) -> Accepted:
            self._expect(expected_turn_id)
            if self._driver.turn is not None or (when_idle == "queue" and not self.busy):
                return await self._enqueue("steer", heard, client_message_id)
            if self.busy:
                raise SessionError(
                    NOT_STEERABLE, code="not_steerable", detail={"phase": self._phase.now}
                )
            if when_idle == "error":
                raise SessionError(NO_TURN, code="no_active_turn")
            return await self._driver.start("steer", heard, client_message_id)

        async def check() -> None:
            self._expect(expected_turn_id)

        return await self._once(client_message_id, content, "steer", check, say)

    async def follow_up(
        self, content: Content, *, client_message_id: str | None = None
    ) -> Accepted:
        """Say it when the present turn is over; when nothing runs, now."""

        async def say(heard: Content) -> Accepted:
            if self.busy:
                return await self._enqueue("followUp", heard, client_message_id)
            return await self._driver.start("followUp", heard, client_message_id)

        return await self._once(client_message_id, content, "followUp", _nothing, say)

    async def abort(
        self,
        scope: Scope = "turn",
        *,
        turn_id: str | None = None,
        tool_call_id: str | None = None,
        queue: Literal["keep", "return", "drop"] = "keep",
    ) -> Aborted:
        """End what runs and wait for its end. Waiting texts are kept, handed back or dropped.

        What is kept is not sent by itself: it goes before the next prompt. Scope `tool` ends one
        call (without an id: all that run), and the turn goes on.
        """
        self._expect(turn_id)
        calls = self._stops.calls(scope, tool_call_id)
        if stopped := self._stops.runs(scope, calls):
            self._stops.stop(scope, calls)
            with anyio.move_on_after(ABORT_LIMIT):
                await self._phase.until(lambda: not self._stops.runs(scope, calls))
        back: list[QueueItem] = []
        if queue != "keep":
            back = await self.take_out(self._queue.clear)
        forced = stopped and self._stops.runs(scope, calls)
        return Aborted(stopped and not forced, forced, tuple(back) if queue == "return" else ())

    async def let_end(self) -> None:
        """Wait while a turn that has ended is put away."""
        await self._driver.let_end()

    async def wait(self, until: Literal["idle", "settled"] = "settled") -> LastTurn | None:
        """Wait until no turn runs (idle) or nothing automatic remains; how the last turn ended."""
        if until == "idle":
            await self._phase.until(lambda: self._driver.turn is None or self._driver.turn.over)
        else:
            await self._phase.until(lambda: not self.busy)
        return self.last

    async def save_queue(self) -> None:
        """What waits is on the disk."""
        await self._driver.save_queue()

    async def take_out(self, take: Callable[[], list[QueueItem]]) -> list[QueueItem]:
        """Take texts out of the queue. Where that cannot be kept they wait on."""
        taken = take()
        with anyio.CancelScope(shield=True):
            try:
                await self.save_queue()
            except SingletreeError:
                self._queue.put_back(taken)
                raise
        return taken

    async def close(self) -> None:
        """Take no more texts and end what runs. A text that is being taken is on the disk then."""
        self._driver.closed = True
        with anyio.move_on_after(CLOSE_LIMIT):
            await self._phase.until(lambda: self._inside == 0)
        await self.abort("turn")
        self._stops.stop("compaction")
        self._stops.stop("branchSummary")
        with anyio.move_on_after(CLOSE_LIMIT):
            await self._phase.until(lambda: not self.busy)

    async def _once(
        self,
        client_id: str | None,
        content: Content,
        source: Source,
        check: Callable[[], Awaitable[None]],
        say: Callable[[Content], Awaitable[Accepted]],
    ) -> Accepted:
        """Say it, unless the same client message id was said already: then the first answer."""

        async def said() -> Accepted:
            await check()
            heard = await self._user_input.heard(content, source)
            if isinstance(heard, Done):
                return Accepted("handled", note=heard.note)
            check_full(heard)
            self._driver.check_open()
            self._inside += 1
            try:
                return await say(heard)
            finally:
                self._inside -= 1
                self._phase.wake()

        check_full(content)
        self._driver.check_open()
        self._talk.check_writable()
        return await said() if client_id is None else await self._repeats.once(client_id, said)

    async def _enqueue(self, kind: Kind, content: Content, client_id: str | None) -> Accepted:
        blocks = [block.dump() for block in content]
        item = self._queue.add(kind, self._talk.history.mint(), blocks, client_id)
        with anyio.CancelScope(shield=True):
            try:
                await self._have_file()
                await self.save_queue()
            except SingletreeError:
                if self._queue.position(item.queue_id) is not None:  # no turn has taken it
                    self._queue.remove([item.queue_id])
                    raise
        steered = kind == "steer" and self._driver.turn is not None
        return Accepted(
            "injected" if steered else "queued",
            self._phase.turn_id,
            item.queue_id,
            item.entry_id,
            self._queue.position(item.queue_id),
        )

    async def _have_file(self) -> None:
        """What waits is found again with its session only if that has a file."""
        history = self._talk.history
        if not history.on_disk:
            history.create()
            await anyio.to_thread.run_sync(history.sync)

    def _expect(self, turn_id: str | None) -> None:
        if turn_id is not None and turn_id != self._phase.turn_id:
            raise StaleError(
                OTHER_TURN, code="turn_mismatch", detail={"turnId": self._phase.turn_id}
            )


def check_full(content: Content) -> None:
    """Raise `input_empty` where nothing is said."""
    if not any(not isinstance(b, Text) or b.text.strip() for b in content):
        raise SingletreeError(EMPTY, code="input_empty")


async def _nothing() -> None:
    return None
