"""Makes any sequence of messages acceptable to a strict provider.

Every call has exactly one result, directly behind it; failed answers are left out with their
results; no text is blank; the first word is the user's. Pure; knows no provider (their own rules,
such as the form of call ids, live in model/). Read next: feed.py, for who asks often.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from singletree.messages import (
    AssistantMessage,
    Block,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UnknownBlock,
    UserMessage,
)

NO_RESULT = "No result: the tool was interrupted or its answer was lost. Run it again if needed."
EMPTY_RESULT = "(no output)"
OPENING = "(The conversation starts here.)"


def accepted(messages: Iterable[Message]) -> list[Message]:
    """The same conversation as a strict provider takes it.

    A result that comes late is moved to its call, one without a call or a second one is dropped, a
    missing one is made up as an error. Ids used twice are told apart. Clean messages are passed on
    as the same objects, in linear time.
    """
    repair = Repair()
    for message in messages:
        repair.add(message)
    return [message for message, _ in repair.sequence()]


def traced(messages: Iterable[tuple[Message, str]]) -> list[tuple[Message, str | None]]:
    """`accepted` for messages that come with their source; what was made up has none."""
    repair = Repair()
    for message, source in messages:
        repair.add(message, source)
    return repair.sequence()


_Row = tuple[Message, str | None]
_Result = tuple[ToolResultMessage, str | None]


class _Calls:
    """The calls of one answer and the results found so far; `ids` are the ids as they are sent."""

    __slots__ = ("at", "calls", "ids", "results")

    def __init__(self, at: int, calls: list[ToolCall], ids: list[str]) -> None:
        self.at = at
        self.calls = calls
        self.ids = ids
        self.results: list[_Result | None] = [None] * len(calls)


class Repair:
    """Takes messages one by one, gives the repaired sequence at any time.

    `orphans`: results that are not sent because no call waits for them; the file is not as it
    should be. Those of failed answers are not among them.
    """

    def __init__(self) -> None:
        self._kept: list[_Row] = []
        self._with_calls: dict[int, _Calls] = {}
        self._waiting: dict[str, deque[tuple[_Calls, int] | None]] = {}
        self._used: set[str] = set()
        self.orphans: list[ToolResultMessage] = []
        self._flat: list[_Row] = []
        self._flat_until = 0

    def add(self, message: Message, source: str | None = None) -> None:
        """One more message."""
        if isinstance(message, ToolResultMessage):
            self._result(message, source)
        elif isinstance(message, AssistantMessage):
            self._answer(message, source)
        else:
            clean = _clean(message.content)
            if clean is not message.content:
                message = message.model_copy(update={"content": clean})
            if clean:
                self._kept.append((message, source))

    def sequence(self) -> list[_Row]:
        """What can be sent."""
        last = max(len(self._kept) - 1, 0)
        self._flatten(self._flat, self._flat_until, last)
        self._flat_until = max(self._flat_until, last)
        tail: list[_Row] = []
        self._flatten(tail, self._flat_until, len(self._kept))
        whole = [*self._flat, *tail]
        if whole and not isinstance(whole[0][0], UserMessage):
            opening = UserMessage(content=OPENING, timestamp=whole[0][0].timestamp)
            whole.insert(0, (opening, None))
        return whole

    def _flatten(self, out: list[_Row], start: int, end: int) -> None:
        for at in range(start, end):
            row = self._kept[at]
            out.append(row)
            group = self._with_calls.get(at)
            if group is not None:
                rows = zip(group.calls, group.ids, group.results, strict=True)
                out.extend(_place(call, name, found, row[0]) for call, name, found in rows)

    def _result(self, message: ToolResultMessage, source: str | None) -> None:
        places = self._waiting.get(message.tool_call_id)
        if not places:
            self.orphans.append(message)
            return
        place = places.popleft()
        if place is None:
            return
        group, index = place
        group.results[index] = (message, source)
        if group.at < self._flat_until:
            self._flat, self._flat_until = [], 0

    def _answer(self, message: AssistantMessage, source: str | None) -> None:
        if message.failed:
            for call in message.tool_calls:
                self._waiting[call.id] = deque((None,))
            return
        content = _clean(message.content)
        if not content or isinstance(content, str):
            return
        calls = [block for block in content if isinstance(block, ToolCall)]
        if calls:
            ids = [self._unique(call.id) for call in calls]
            content = _renamed(content, calls, ids)
            self._expect(_Calls(len(self._kept), calls, ids))
        if content is not message.content:
            message = message.model_copy(update={"content": content})
        self._kept.append((message, source))

    def _expect(self, group: _Calls) -> None:
        self._with_calls[group.at] = group
        for call in group.calls:
            self._waiting[call.id] = deque()
        for index, call in enumerate(group.calls):
            self._waiting[call.id].append((group, index))

    def _unique(self, given: str) -> str:
        name, count = given or "call", 1
        while name in self._used:
            count += 1
            name = f"{given or 'call'}-{count}"
        self._used.add(name)
        return name


def _renamed(content: list[Block], calls: list[ToolCall], ids: list[str]) -> list[Block]:
    if all(call.id == name for call, name in zip(calls, ids, strict=True)):
        return content
    names = iter(ids)
    return [
        block.model_copy(update={"id": next(names)}) if isinstance(block, ToolCall) else block
        for block in content
    ]


def _place(call: ToolCall, name: str, result: _Result | None, behind: Message) -> _Row:
    if result is None:
        made_up = ToolResultMessage(
            tool_call_id=name,
            tool_name=call.name,
            content=[Text(text=NO_RESULT)],
            is_error=True,
            timestamp=behind.timestamp,
        )
        return made_up, None
    found, source = result
    content = _clean(found.content)
    changed: dict[str, object] = {}
    if not content:
        changed["content"] = [Text(text=EMPTY_RESULT)]
    elif content is not found.content:
        changed["content"] = content
    if found.tool_call_id != name:
        changed["tool_call_id"] = name
    return (found.model_copy(update=changed) if changed else found), source


def _clean(content: str | list[Block]) -> str | list[Block]:
    """The content without blank text and unknown blocks; the same object where it is clean."""
    if isinstance(content, str):
        return content if content and not content.isspace() else ""
    for block in content:
        if not _has_something(block):
            return [b for b in content if _has_something(b)]
    return content


def _has_something(block: Block) -> bool:
    if isinstance(block, Text):
        return bool(block.text) and not block.text.isspace()
    if isinstance(block, Thinking):
        return bool(block.thinking_signature or block.thinking.strip())
    return not isinstance(block, UnknownBlock)
