"""The active branch as a Markdown text to read or to paste somewhere.

Code stands in fences longer than any inside it; pictures are named, not put in. Never writes a
file. Read next: chapters.py is for pages with all branches; this is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from singletree.export.title import title_of
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
)
from singletree.history.reading import Reading
from singletree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Block,
    CustomMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def markdown(history: Reading) -> Iterator[str]:
    """The text, a block at a time."""
    yield from head(history)
    ids = history.tree.index.ids
    for row in history.tree.path_rows(history.tree.leaf_row):
        for entry in history.entries(ids=[ids[row]]).entries:
            yield from marked(entry, history)


def head(history: Reading) -> Iterator[str]:
    """What stands above it: the title and a few facts."""
    header = history.header
    yield f"# {_one_line(title_of(history))}\n"
    facts = [("Folder", f"`{header.cwd}`"), ("Begun", header.timestamp), ("Session", header.id)]
    yield "".join(f"- {name}: {value}\n" for name, value in facts if value.strip("`"))


def marked(entry: Entry, history: Reading) -> Iterator[str]:
    """One entry, behind its label where it has one."""
    if (label := history.tree.labels.get(entry.id)) is not None:
        yield f"*Label: {_one_line(label)}*\n"
    yield from _told(entry)


def fenced(text: str, language: str = "") -> str:
    """Code in a fence that nothing inside it can close."""
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}\n"


def _told(entry: Entry) -> Iterator[str]:
    match entry:
        case MessageEntry(message=message):
            yield from _message(message)
        case CustomMessageEntry(display=True):
            yield f"## {_one_line(entry.custom_type)}\n"
            yield _content(entry.content)
        case CompactionEntry():
            yield f"## Compaction (at {entry.tokens_before} tokens)\n"
            yield _quoted(entry.summary)
        case BranchSummaryEntry():
            yield "## Summary of a branch that was left\n"
            yield _quoted(entry.summary)
        case ModelChangeEntry():
            yield f"*Model: {entry.provider}/{entry.model_id}*\n"
        case _:
            return


def _message(message: object) -> Iterator[str]:
    match message:
        case UserMessage():
            yield "## You\n"
            yield _content(message.content)
        case AssistantMessage():
            yield f"## {_one_line(message.model) or 'Assistant'}\n"
            yield from _answer(message)
        case ToolResultMessage():
            failed = " (failed)" if message.is_error else ""
            yield f"Answer of `{_one_line(message.tool_name)}`{failed}:\n"
            yield _output(message.content)
        case BashExecutionMessage():
            yield "## You ran\n"
            yield fenced(f"$ {message.command}\n{message.output}")
        case CustomMessage():
            yield f"## {_one_line(message.custom_type)}\n"
            yield _content(message.content)
        case _:
            return


def _answer(message: AssistantMessage) -> Iterator[str]:
    for block in message.content:
        match block:
            case Text(text=text) if text.strip():
                yield text.rstrip() + "\n"
            case Thinking(thinking=text) if text.strip():
                yield _quoted(f"*Thinking:* {text}")
            case ToolCall():
                yield f"Call of `{_one_line(block.name)}`:\n"
                yield fenced(json.dumps(block.arguments, ensure_ascii=False, indent=2), "json")
    if message.stop_reason in ("aborted", "error"):
        why = message.error_message or message.stop_reason
        yield f"*The answer was not finished: {_one_line(why)}*\n"


def _content(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return content.rstrip() + "\n"
    return "\n".join(_block(block) for block in content)


def _output(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return fenced(content)
    return "\n".join(fenced(b.text) if isinstance(b, Text) else _block(b) for b in content)


def _block(block: Block) -> str:
    match block:
        case Text(text=text):
            return text.rstrip() + "\n"
        case Image(mime_type=kind, data=data):
            return f"*[a picture, {kind}, {3 * len(data) // 4} bytes]*\n"
        case _:
            return ""


def _quoted(text: str) -> str:
    return "".join(f"> {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())
