"""A conversation as plain text, to be read by whoever writes a summary of it.

Thinking and pictures are left out, long results and arguments are cut. Pure; knows no model. Read
next: prompts.py (what is asked about the text), summary.py (who asks).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from singletree.compaction.js import stringify
from singletree.context.projection import as_llm
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    Block,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    utf16_head,
    utf16_units,
    well_formed,
)

RESULT_UNITS = 2000
"""How much of a tool result, or of one argument of a call, is shown."""

CUT = "\n\n[... {count} more characters left out]"
USER, ASSISTANT = "[User]: ", "[Assistant]: "
CALLS, RESULT = "[Assistant tool calls]: ", "[Tool result]: "


def flatten(messages: Iterable[AgentMessage]) -> list[str]:
    """The parts of the conversation, oldest first; to be joined by a blank line."""
    parts: list[str] = []
    for message in messages:
        sent = as_llm(message)
        if sent is not None:
            parts.extend(_parts(sent))
    return parts


def cut(text: str, limit: int = RESULT_UNITS) -> str:
    """The head of a text, at most `limit` UTF-16 units, with a note of how much is left out."""
    total = utf16_units(text)
    if total <= limit:
        return text
    return utf16_head(text, limit) + CUT.format(count=total - limit)


def _parts(message: Message) -> list[str]:
    match message:
        case UserMessage(content=content):
            text = _joined(content, "")
            return [USER + text] if text else []
        case ToolResultMessage(content=content):
            text = _joined(content, "")
            return [RESULT + cut(text)] if text else []
        case AssistantMessage(content=blocks):
            parts = []
            if any(isinstance(block, Text) for block in blocks):
                parts.append(ASSISTANT + _joined(blocks, "\n"))
            if calls := [block for block in blocks if isinstance(block, ToolCall)]:
                parts.append(CALLS + "; ".join(map(_call, calls)))
            return parts


def _joined(content: str | Sequence[Block], between: str) -> str:
    if isinstance(content, str):
        return well_formed(content)
    return well_formed(between.join(b.text for b in content if isinstance(b, Text)))


def _call(call: ToolCall) -> str:
    arguments = (f"{name}={cut(stringify(value))}" for name, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"
