"""From a path of the tree to what the model sees: entries -> agent messages -> model messages.

`project` is made anew whenever it is needed (or carried on by `extend`) and never changes an entry;
`to_llm` rewrites the roles no model knows. Neither looks at who answers: a provider's own rules
live in model/. Read next: accept.py (what a strict provider accepts), xray.py (the same, told).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue, ValidationError

from singletree.context.tags import defuse
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
    iso_to_ms,
)
from singletree.messages import (
    LEVELS,
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    SystemMessage,
    Text,
    ThinkingLevel,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
)

COMPACTION_INTRO = (
    "Everything before this point was replaced by the summary below to save space. "
    "Treat it as what you remember of the work so far."
)
BRANCH_INTRO = (
    "Before this point another branch of this conversation was tried and left. "
    "The summary below tells what was done there; its messages are not shown."
)
BASH_RAN = "The user ran"
BASH_NO_OUTPUT = "(no output)"
BASH_CANCELLED = "(cancelled before it ended)"
BASH_EXIT = "Exit code: {code}"
BASH_CUT = "(output cut; all of it is in {path})"

_REWRITES = (CompactionEntry, ContextEditEntry)
"""Entries that change what came before them."""


@dataclass(frozen=True, slots=True)
class Projection:
    """What the model sees of a path. `sources[i]` is the id of the entry behind `messages[i]`.

    `fresh`: the first message from after the last compaction or edit. What a provider counted
    before it holds no more.
    """

    messages: tuple[AgentMessage, ...] = ()
    sources: tuple[str, ...] = ()
    model: tuple[str, str] | None = None
    thinking: ThinkingLevel = "off"
    fresh: int = 0


def project(path: Sequence[Entry]) -> Projection:
    """The context of a path (root first): newest compaction, kept tail, edits, settings."""
    chosen = selected(path)
    edits = edits_of(chosen)
    newest = chosen[0] if chosen and isinstance(chosen[0], CompactionEntry) else None
    messages: list[AgentMessage] = []
    sources: list[str] = []
    for entry in chosen:
        message = said(entry)
        if message is None and entry is newest:
            message = summary_message(newest)
        if message is not None and entry.id in edits:
            message = edited(message, edits[entry.id])
        if message is not None:
            messages.append(message)
            sources.append(entry.id)
    model, thinking = settings_of(path)
    return Projection(tuple(messages), tuple(sources), model, thinking, _fresh(path, sources))


def extend(projection: Projection, entry: Entry) -> Projection | None:
    """The projection with one more entry at the end of its path; None where it must be made anew.

    Compactions and context edits change what came before them; all others only add.
    """
    if isinstance(entry, _REWRITES):
        return None
    model, thinking = settings_of((entry,), projection.model, projection.thinking)
    message = said(entry)
    if message is None:
        return replace(projection, model=model, thinking=thinking)
    messages, sources = (*projection.messages, message), (*projection.sources, entry.id)
    return Projection(messages, sources, model, thinking, projection.fresh)


def selected(path: Sequence[Entry]) -> list[Entry]:
    """The entries that count: all, or the newest compaction, what it keeps, and what follows it."""
    at = next((i for i in reversed(range(len(path))) if isinstance(path[i], CompactionEntry)), None)
    if at is None:
        return list(path)
    compaction = path[at]
    assert isinstance(compaction, CompactionEntry)
    first = next((i for i in range(at) if path[i].id == compaction.first_kept_entry_id), at)
    kept = [e for e in path[first:at] if not _is_system(e)]
    return [compaction, *kept, *path[at + 1 :]]


def edits_of(entries: Iterable[Entry]) -> dict[str, JsonValue]:
    """The last edit of each entry: target -> replacement; it reaches only what is before it."""
    edits: dict[str, JsonValue] = {}
    before: set[str] = set()
    for entry in entries:
        if isinstance(entry, ContextEditEntry) and entry.target_id in before:
            edits[entry.target_id] = entry.replacement
        before.add(entry.id)
    return edits


def settings_of(
    path: Iterable[Entry],
    model: tuple[str, str] | None = None,
    thinking: ThinkingLevel = "off",
) -> tuple[tuple[str, str] | None, ThinkingLevel]:
    """Model and thinking level as the whole path leaves them; a level we do not know is ignored."""
    for entry in path:
        if isinstance(entry, MessageEntry):
            if isinstance(entry.message, AssistantMessage):
                model = (entry.message.provider, entry.message.model)
        elif isinstance(entry, ModelChangeEntry):
            model = (entry.provider, entry.model_id)
        elif isinstance(entry, ThinkingLevelChangeEntry):
            known = (level for level in LEVELS if level == entry.thinking_level)
            thinking = next(known, thinking)
    return model, thinking


def summary_message(
    entry: CompactionEntry | BranchSummaryEntry,
) -> CompactionSummaryMessage | BranchSummaryMessage:
    """What a summary gives to the context."""
    at = iso_to_ms(entry.timestamp)
    if isinstance(entry, BranchSummaryEntry):
        return BranchSummaryMessage(summary=entry.summary, from_id=entry.from_id, timestamp=at)
    return CompactionSummaryMessage(
        summary=entry.summary, tokens_before=entry.tokens_before, timestamp=at
    )


def edited(message: AgentMessage, replacement: JsonValue) -> AgentMessage | None:
    """The message after a context edit: hidden by null, other content by `{content}`.

    Summaries and commands have no content to be swapped; a replacement that is no content changes
    nothing.
    """
    if replacement is None:
        return None
    if not isinstance(message, UserMessage | AssistantMessage | ToolResultMessage | CustomMessage):
        return message
    content = replacement.get("content") if isinstance(replacement, dict) else None
    if isinstance(content, str) and isinstance(message, AssistantMessage | ToolResultMessage):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, str | list):
        return message
    try:
        return type(message).model_validate({**message.dump(), "content": content})
    except ValidationError:
        return message


def to_llm(messages: Iterable[AgentMessage]) -> list[Message]:
    """The messages in the three roles every model knows; what no model should see is dropped."""
    return [m for given in messages if (m := as_llm(given)) is not None]


def as_llm(message: AgentMessage) -> Message | None:
    """One message for the model, or None."""
    match message:
        case AssistantMessage() | ToolResultMessage() | UserMessage():
            return message
        case BashExecutionMessage():
            if message.exclude_from_context:
                return None
            return _user(bash_text(message), message.timestamp)
        case CustomMessage(content=str() as text):
            return _user(text, message.timestamp)
        case CustomMessage():
            return UserMessage(content=message.content, timestamp=message.timestamp)
        case CompactionSummaryMessage(summary=summary):
            body = f"<summary>\n{defuse(summary, 'summary')}\n</summary>"
            return _user(f"{COMPACTION_INTRO}\n\n{body}", message.timestamp)
        case BranchSummaryMessage(summary=summary):
            body = f"<summary>\n{defuse(summary, 'summary')}</summary>"
            return _user(f"{BRANCH_INTRO}\n\n{body}", message.timestamp)
        case SystemMessage() | UnknownMessage():
            return None


def bash_text(message: BashExecutionMessage) -> str:
    """A command of the user as text for the model."""
    body = f"```\n{message.output}\n```" if message.output else BASH_NO_OUTPUT
    text = f"{BASH_RAN} `{message.command}`\n{body}"
    if message.cancelled:
        text += f"\n\n{BASH_CANCELLED}"
    elif message.exit_code:
        text += "\n\n" + BASH_EXIT.format(code=message.exit_code)
    if message.truncated and message.full_output_path:
        text += "\n\n" + BASH_CUT.format(path=message.full_output_path)
    return text


def said(entry: Entry) -> AgentMessage | None:
    """What an entry by itself gives to the context; a compaction depends on where it stands."""
    if isinstance(entry, MessageEntry):
        message = entry.message
        return None if isinstance(message, SystemMessage | UnknownMessage) else message
    match entry:
        case CustomMessageEntry():
            return CustomMessage(
                custom_type=entry.custom_type,
                content=entry.content,
                display=entry.display,
                details=entry.details,
                timestamp=iso_to_ms(entry.timestamp),
            )
        case BranchSummaryEntry(summary=summary) if summary:
            return summary_message(entry)
        case _:
            return None


def _fresh(path: Sequence[Entry], sources: Sequence[str]) -> int:
    at = next((n for n in reversed(range(len(path))) if isinstance(path[n], _REWRITES)), None)
    if at is None:
        return 0
    after = {entry.id for entry in path[at + 1 :]}
    return next((n for n, source in enumerate(sources) if source in after), len(sources))


def _is_system(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and isinstance(entry.message, SystemMessage)


def _user(text: str, timestamp: int) -> UserMessage:
    return UserMessage(content=[Text(text=text)], timestamp=timestamp)
