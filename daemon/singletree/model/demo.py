"""`offline/demo`: a model without a key and without a network, that calls the real tools.

It understands plain requests and says what it is. Everything it knows stands in the request: where
it is in its plan follows from the messages since the user's last words. Never opens a file. Read
next: demo_grammar.py (what it understands), demo_answer.py (what it says).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import anyio

from singletree.messages import (
    AssistantMessage,
    Block,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.base import (
    Hear,
    ModelInfo,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
)
from singletree.model.catalogue import DEMO
from singletree.model.demo_answer import NO_TOOL, report, small_talk
from singletree.model.demo_grammar import Step, Try, understand
from singletree.model.demo_summary import is_summary_request, summarize

PACE = 0.004
"""Seconds between words, so that a person sees an answer being written."""


class DemoModel:
    """Answers plain requests. `pace` 0 streams as fast as it is read."""

    def __init__(self, pace: float = PACE) -> None:
        self._pace = pace

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        return DEMO

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        """The next call of the plan, or the report when nothing is left to do."""
        block = _answer(request)
        if isinstance(block, Text):
            for word in re.findall(r"\S*\s*", block.text):
                await anyio.sleep(self._pace)
                if word:
                    hear([TextDelta(0, word)])
        else:
            await anyio.sleep(self._pace)
            hear([ToolCallDelta(0, block.id, block.name, json.dumps(block.arguments))])
        return _message([block], "toolUse" if isinstance(block, ToolCall) else "stop")


def _message(content: list[Block], stop: str) -> AssistantMessage:
    return AssistantMessage(
        content=content, api=DEMO.api, provider=DEMO.provider, model=DEMO.id, stop_reason=stop
    )


def _answer(request: ModelRequest) -> Text | ToolCall:
    said, since = _last_words(request.messages)
    if is_summary_request(request):
        return Text(text=summarize(request))
    done = _done(since)
    attempt, kept = _where(understand(said), done)
    if attempt is None:
        return Text(text=report(kept) if kept else small_talk(said))
    if attempt.tool not in {tool.name for tool in request.tools}:
        missing = NO_TOOL.format(tool=attempt.tool)
        return Text(text=f"{report(kept)}\n\n{missing}" if kept else missing)
    return ToolCall(id=_free_id(request), name=attempt.tool, arguments=dict(attempt.args))


Done = list[tuple[ToolCall, ToolResultMessage]]


def _last_words(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """What the user said last, and what happened since."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage):
            return text_of(message.content), messages[index + 1 :]
    return "", messages


def _done(since: Sequence[Message]) -> Done:
    calls = {c.id: c for m in since if isinstance(m, AssistantMessage) for c in m.tool_calls}
    results = (m for m in since if isinstance(m, ToolResultMessage))
    return [(calls[r.tool_call_id], r) for r in results if r.tool_call_id in calls]


def _where(steps: list[Step], done: Done) -> tuple[Try | None, Done]:
    """What to try next, and what counts of what was tried: a reading that failed does not."""
    left = list(done)
    kept: Done = []
    for step in steps:
        for attempt in step:
            if not left:
                return attempt, kept
            outcome = left.pop(0)
            last = attempt is step[-1]
            if not outcome[1].is_error or last:
                kept.append(outcome)
                break
    return None, kept


def _free_id(request: ModelRequest) -> str:
    """An id no call of the conversation has."""
    said = (m for m in request.messages if isinstance(m, AssistantMessage))
    taken = {c.id for m in said for c in m.tool_calls}
    number = len(taken) + 1
    while f"demo_{number}" in taken:
        number += 1
    return f"demo_{number}"
