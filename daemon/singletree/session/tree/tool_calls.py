"""One call of a tool and its answer, wherever they are: in the running turn or in the file.

Of a call that stands on several branches the newest counts. Reads the file from its end: call it in
a worker thread. Read next: ../turn/recorder.py (which keeps answers until they are entries).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from singletree.agent.tool import ToolOutput
from singletree.history.entries import MessageEntry
from singletree.history.reading import Reading
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    Image,
    Text,
    ToolCall,
    ToolResultMessage,
)


def call_in(history: Reading, call_id: str) -> ToolCall | None:
    """The call, as its answer has it."""
    for message in _holding(history, "assistant", call_id):
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if call.id == call_id:
                    return call
    return None


def output_in(history: Reading, call_id: str) -> ToolOutput | None:
    """What the call was answered with."""
    for message in _holding(history, "toolResult", call_id):
        if isinstance(message, ToolResultMessage) and message.tool_call_id == call_id:
            content = message.content
            blocks = [Text(text=content)] if isinstance(content, str) else content
            shown = tuple(block for block in blocks if isinstance(block, Text | Image))
            return ToolOutput(shown, message.details, message.is_error)
    return None


def _holding(history: Reading, role: str, call_id: str) -> Iterator[AgentMessage]:
    marker = json.dumps(call_id, ensure_ascii=False).encode()
    for entry in history.holding(role, marker):
        if isinstance(entry, MessageEntry):
            yield entry.message
