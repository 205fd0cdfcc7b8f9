"""What the model does not see of a path, entry by entry, and by which rule.

Also the form in which parts are told, seen ones and others. Asks the functions that make the
request, never guesses. Read next: xray.py, which tells the whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from singletree.context.projection import (
    Projection,
    edited,
    edits_of,
    said,
    selected,
    summary_message,
)
from singletree.excerpt import excerpt
from singletree.history.entries import (
    LEAF_TYPE,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    Entry,
    MessageEntry,
)
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UnknownMessage,
    text_of,
)

Rule = Literal[
    "off_path",
    "compacted",
    "edited_away",
    "not_for_model",
    "history",
    "extension",
    "failed",
    "aborted",
    "no_call",
    "empty",
    "truncated",
]
"""Why something is not seen. `history`: a system prompt of pi; ours is built anew."""

OFF_PATH = "{count} {entries} on other branches"
PREVIEW = 80


@dataclass(frozen=True, slots=True)
class Part:
    """One part: `kind` is a role, `section:name`, `tool:name` or `correction`.

    `left_out`: the rule, for what the model does not see; `tokens` is then what it would have cost.
    `sent` is a message as the model gets it, `text` a section or a tool's declaration.
    """

    kind: str
    tokens: int
    entry_id: str | None = None
    preview: str = ""
    left_out: Rule | None = None
    sent: Message | None = None
    text: str = ""


Estimate = Callable[[AgentMessage], int]


def unsent(message: AgentMessage, source: str, estimate: Estimate) -> Part:
    """A projected message that is not in the request."""
    rule: Rule
    match message:
        case AssistantMessage(stop_reason="aborted"):
            rule = "aborted"
        case AssistantMessage(stop_reason="error"):
            rule = "failed"
        case ToolResultMessage():
            rule = "no_call"
        case BashExecutionMessage() | SystemMessage() | UnknownMessage():
            rule = "not_for_model"
        case _:
            rule = "empty"
    return left(message, source, rule, estimate)


def not_projected(path: Sequence[Entry], projection: Projection, estimate: Estimate) -> list[Part]:
    """Entries of the path that give nothing to the context."""
    chosen = selected(path)
    newest = chosen[0] if chosen and isinstance(chosen[0], CompactionEntry) else None
    counted = {id(entry) for entry in chosen}
    edits = edits_of(chosen)
    sources = set(projection.sources)
    parts = []
    for entry in path:
        if entry is newest or (entry.id in sources and id(entry) in counted):
            continue
        message = summary_message(entry) if isinstance(entry, CompactionEntry) else said(entry)
        if message is None:
            parts.append(_silent(entry, estimate))
        elif id(entry) not in counted or isinstance(entry, CompactionEntry):
            parts.append(left(message, entry.id, "compacted", estimate))
        elif entry.id in edits and edited(message, edits[entry.id]) is None:
            parts.append(left(message, entry.id, "edited_away", estimate))
    return [part for part in parts if part is not None]


def _silent(entry: Entry, estimate: Estimate) -> Part | None:
    """An entry that never says anything to a model. Where the leaf stands is no news."""
    if isinstance(entry, MessageEntry) and isinstance(entry.message, SystemMessage):
        return left(entry.message, entry.id, "history", estimate)
    if isinstance(entry, ContextEditEntry) or _marks_leaf(entry):
        return None
    return Part(entry.type, 0, entry.id, left_out="not_for_model")


def compacted(entry: Entry, estimate: Estimate) -> Part | None:
    """An entry from before what the newest compaction keeps."""
    message = summary_message(entry) if isinstance(entry, CompactionEntry) else said(entry)
    if message is None:
        return _silent(entry, estimate)
    return left(message, entry.id, "compacted", estimate)


def off_path(count: int, size: int) -> list[Part]:
    """All other branches as one row, its tokens guessed from their bytes in the file."""
    if not count:
        return []
    preview = OFF_PATH.format(count=count, entries="entry" if count == 1 else "entries")
    return [Part("branches", size // 4, preview=preview, left_out="off_path")]


def _marks_leaf(entry: Entry) -> bool:
    return isinstance(entry, CustomEntry) and entry.custom_type == LEAF_TYPE


def cut_off(message: AgentMessage, source: str) -> Part | None:
    """What a tool cut off its own output, by what its details tell."""
    if not isinstance(message, ToolResultMessage) or not isinstance(message.details, dict):
        return None
    told = message.details.get("truncation")
    if not isinstance(told, dict) or not told.get("truncated"):
        return None
    missing = _figure(told.get("totalBytes")) - _figure(told.get("outputBytes"))
    preview = f"{max(missing, 0)} bytes of {message.tool_name}'s output"
    return Part(message.role, max(missing, 0) // 4, source, preview, "truncated")


def _figure(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0


def left(message: AgentMessage, source: str, rule: Rule, estimate: Estimate) -> Part:
    """A message that is left out."""
    return Part(message.role, estimate(message), source, line_of(message), rule)


def line_of(message: AgentMessage) -> str:
    """The beginning of a message on one line."""
    match message:
        case AssistantMessage():
            text, calls = text_of(message.content), " ".join(map(_call, message.tool_calls))
            return excerpt(f"{excerpt(text, PREVIEW // 2)} {calls}" if calls else text, PREVIEW)
        case BashExecutionMessage():
            return excerpt(f"$ {message.command}", PREVIEW)
        case CompactionSummaryMessage() | BranchSummaryMessage():
            return excerpt(message.summary, PREVIEW)
        case UnknownMessage():
            return ""
        case _:
            return excerpt(text_of(message.content), PREVIEW)


def _call(call: ToolCall) -> str:
    """A call with the beginning of what it was given."""
    given = ", ".join(f"{name}={_value(value)}" for name, value in call.arguments.items())
    return f"{call.name}({given})"


def _value(value: JsonValue) -> str:
    shown = value[:PREVIEW] if isinstance(value, str) else value
    return json.dumps(shown, ensure_ascii=False)
