"""A text that a client sends again, by the id it gave it, gets the answer it had the first time.

Also where a life of the session before this one gave that answer. Never says anything itself. Read
next: turns.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread

from singletree.session.state import Accepted
from singletree.session.tree.conversation import REMEMBERED, Conversation
from singletree.session.turn.queue import Queue


class Repeats:
    """The answers of one session, the newest by the ids of their texts."""

    def __init__(self, talk: Conversation, queue: Queue) -> None:
        self._talk = talk
        self._queue = queue
        self._answers: dict[str, Accepted] = {}
        self._saying: dict[str, anyio.Event] = {}

    async def once(self, client_id: str, say: Callable[[], Awaitable[Accepted]]) -> Accepted:
        """Say it, unless that was done: then the first answer."""
        while (saying := self._saying.get(client_id)) is not None:
            await saying.wait()
        if (known := self._answers.get(client_id)) is not None:
            return known
        self._saying[client_id] = done = anyio.Event()
        try:
            answer = await self._said_before(client_id) or await say()
            self._answers[client_id] = answer
        finally:
            del self._saying[client_id]
            done.set()
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
        return answer

    async def _said_before(self, client_id: str) -> Accepted | None:
        """What became of a text that a life before this one accepted."""
        if (item := self._queue.sent_as(client_id)) is not None:
            at = self._queue.position(item.queue_id)
            return Accepted("queued", None, item.queue_id, item.entry_id, at)
        entry_id = await anyio.to_thread.run_sync(self._talk.sent_as, client_id)
        return None if entry_id is None else Accepted("started", None, None, entry_id)
