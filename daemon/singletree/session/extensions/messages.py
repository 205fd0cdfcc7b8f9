"""What extensions want said to the model, until it is an entry.

In memory alone: an extension that must not lose a text keeps a note of its own. Never says anything
itself. Read next: ../turn/queue.py (the same for people, on the disk), ../turn/driver.py (who takes
from here).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from singletree.agent.config import Waiting
from singletree.extensions.api import Deliver
from singletree.messages import CustomMessage


@dataclass(frozen=True, slots=True)
class ExtensionMessage:
    """A message on its way. `trigger`: it may begin a turn of its own."""

    entry_id: str
    message: CustomMessage
    deliver_as: Deliver
    trigger: bool


class ExtensionMessages:
    """The messages of one session, in the order in which they came."""

    def __init__(self, mint: Callable[[], str]) -> None:
        self._mint = mint
        self._messages: list[ExtensionMessage] = []

    def put(self, message: CustomMessage, deliver_as: Deliver, *, trigger: bool) -> None:
        """Keep a message until its time comes."""
        self._messages.append(ExtensionMessage(self._mint(), message, deliver_as, trigger))

    def steering(self) -> list[Waiting]:
        """What a running agent may take, with the ids of the entries to be."""
        return [(one.entry_id, one.message) for one in self._messages if one.deliver_as == "steer"]

    def said(self, entry_id: str) -> None:
        """The running turn took this one: it is an entry now."""
        self._messages = [one for one in self._messages if one.entry_id != entry_id]

    @property
    def begins(self) -> bool:
        """Whether anything here may begin a turn."""
        return any(_begins(one) for one in self._messages)

    def take_beginning(self) -> list[ExtensionMessage]:
        """Those that begin a turn, and behind them what waits for the next one."""
        if not self.begins:
            return []
        return self._take(_begins) + self._take(lambda one: one.deliver_as == "nextTurn")

    def take_late(self) -> list[ExtensionMessage]:
        """Steering that no step took and that begins nothing."""
        return self._take(lambda one: one.deliver_as == "steer" and not one.trigger)

    def take_with_prompt(self) -> list[ExtensionMessage]:
        """What goes behind a prompt: for this turn, and what an earlier one did not take."""
        return self._take(lambda one: one.deliver_as != "followUp")

    def _take(self, wanted: Callable[[ExtensionMessage], bool]) -> list[ExtensionMessage]:
        taken = [one for one in self._messages if wanted(one)]
        self._messages = [one for one in self._messages if one not in taken]
        return taken


def _begins(one: ExtensionMessage) -> bool:
    return one.deliver_as == "followUp" or (one.deliver_as == "steer" and one.trigger)
