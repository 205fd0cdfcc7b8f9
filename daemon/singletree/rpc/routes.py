"""What can be asked of us: a method, the type of its params, and its handler.

A handler gets its params as a model and a `Call`; it may be plain or async. What must be seen at
the moment the message arrives (an open buffer's text, before the next message changes it) is taken
by `on_receive`, which never waits; the handler finds it in `call.captured`. Never knows pygls or
what any method does. Read next: connection.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from singletree.rpc.faults import parse_as
from singletree.rpc.peer import Peer

P = TypeVar("P")


@dataclass(slots=True)
class Call:
    """One request or notification while it is handled. `id` is None for a notification."""

    peer: Peer
    method: str
    id: str | int | None
    captured: Any = None
    _after: list[Callable[[], object]] = field(default_factory=list)

    def after_reply(self, then: Callable[[], object]) -> None:
        """Run `then` once the reply is in the outbox: what it sends can't overtake the reply."""
        self._after.append(then)

    def replied(self) -> None:
        """The reply is in the outbox."""
        for then in self._after:
            then()
        self._after.clear()


@dataclass(frozen=True, slots=True)
class Route(Generic[P]):
    """A method: the type of its params (None: any JSON), who handles it, what is captured."""

    params: type[P] | None
    handler: Callable[[P, Call], Awaitable[object] | object]
    on_receive: Callable[[P, Peer], object] | None = None

    def parse(self, value: object) -> P:
        """The params as the handler wants them; none at all is an empty object."""
        if self.params is None:
            return value  # type: ignore[return-value]  # P is whatever JSON holds
        return parse_as(self.params, {} if value is None else value)


Routes = Mapping[str, Route[Any]]
ErrorMapper = Callable[[BaseException], tuple[int, str, object] | None]
