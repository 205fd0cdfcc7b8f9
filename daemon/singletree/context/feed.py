"""The messages of a request, for a caller that asks at every step of a long conversation.

Only remembers what it has worked on already; never knows what an entry is, or a provider. Read
next: projection.py (`to_llm`) and accept.py (`accepted`), which it puts together.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from singletree.context.accept import Repair
from singletree.context.projection import as_llm
from singletree.messages import AgentMessage, Message, ToolResultMessage


class Feed:
    """`to_llm` and `accepted` in one, for a caller that asks again and again with a longer list.

    Only what is new since the last call is worked on, as long as the beginning is the same objects;
    otherwise everything is made anew. The answer is always what the two functions would give.
    """

    def __init__(self) -> None:
        self._seen: list[AgentMessage] = []
        self._repair = Repair()

    @property
    def orphans(self) -> Sequence[ToolResultMessage]:
        """The results that are not sent because no call waits for them."""
        return self._repair.orphans

    def messages(self, given: Sequence[AgentMessage]) -> list[Message]:
        """The messages to send."""
        known = len(self._seen)
        if len(given) < known or not all(map(is_, self._seen, given)):
            self._repair, self._seen, known = Repair(), [], 0
        for message in given[known:]:
            sent = as_llm(message)
            if sent is not None:
                self._repair.add(sent)
            self._seen.append(message)
        return [message for message, _ in self._repair.sequence()]
