"""All that a front may hear of a session, one frozen class per thing that happens.

Agent events (messages, deltas, tools) pass through unchanged and are re-exported here, so that a
door needs no other import. Never knows the wire: rpc/telling/wire.py gives these their JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from singletree.agent.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolStarted,
    ToolUpdated,
)
from singletree.history.entries import Entry
from singletree.messages import ThinkingLevel, ToolCall, Usage

__all__ = [
    "BashOutput",
    "CommandsChanged",
    "CompactionDelta",
    "CompactionEnded",
    "CompactionResult",
    "CompactionStarted",
    "ConfigChanged",
    "EditsChanged",
    "EntryAppended",
    "ErrorInfo",
    "ExtensionFailed",
    "LeafMoved",
    "MessageDelta",
    "MessageEnded",
    "MessageStarted",
    "PermissionChanged",
    "Phase",
    "PhaseChanged",
    "QueueChanged",
    "QueueItem",
    "RetryChanged",
    "RunEnded",
    "RunStarted",
    "SessionEvent",
    "Settled",
    "StepEnded",
    "StepStarted",
    "ToolEnded",
    "ToolPending",
    "ToolStarted",
    "ToolUpdated",
    "TurnEnded",
    "TurnStarted",
    "UsageChanged",
    "Warned",
]

Phase = Literal["idle", "running", "requires_action", "compacting", "retrying"]
Cause = Literal["prompt", "followUp", "steer", "extension"]
TurnReason = Literal["end_turn", "aborted", "error", "max_tokens", "max_turns", "refusal"]
CompactionReason = Literal["manual", "threshold", "overflow"]


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as a value: a code of errors.py, one line, what to do. `retry_after` in seconds."""

    code: str
    message: str
    retryable: bool = False
    retry_after: float | None = None
    hint: str | None = None
    detail: Mapping[str, object] | None = None
    status: int | None = None
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """What the session is doing now."""

    phase: Phase
    turn_id: str | None


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A user message or follow-up is being worked on."""

    turn_id: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Exactly one for each TurnStarted, after retries and recovery. `usage` sums its answers."""

    turn_id: str
    reason: TurnReason
    error: ErrorInfo | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class Settled:
    """Nothing automatic remains."""


@dataclass(frozen=True, slots=True)
class EntryAppended:
    """An entry is in the tree (and, once the session has a file, in the file)."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class LeafMoved:
    """The next entry will be a child of `leaf_id` (None: a new root)."""

    leaf_id: str | None
    tree_version: int
    cause: Literal["append", "navigate", "label", "compact"]


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A text that waits. `paused`: handed back after a crash, not sent by itself.

    `entry_id` is the id of the user's entry it will be; `content` holds text and image blocks.
    """

    queue_id: str
    kind: Literal["steer", "followUp"]
    content: tuple[Mapping[str, JsonValue], ...]
    client_message_id: str | None = None
    paused: bool = False
    entry_id: str = ""


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The whole queue as it now is; `version` grows with each change."""

    items: tuple[QueueItem, ...]
    version: int


@dataclass(frozen=True, slots=True)
class ToolPending:
    """A call waits: for its turn, or for an answer to a permission question."""

    call: ToolCall
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What a compaction left: sizes in tokens, files as details."""

    entry_id: str
    summary: str
    first_kept_entry_id: str
    tokens_before: int
    tokens_after: int
    usage: Usage
    read_files: tuple[str, ...]
    modified_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A summary is being made."""

    id: str
    reason: CompactionReason


@dataclass(frozen=True, slots=True)
class CompactionDelta:
    """More text of the summary."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """`completed` with a result; `failed` or `cancelled` left everything as it was."""

    id: str
    reason: CompactionReason
    status: Literal["completed", "failed", "cancelled"]
    result: CompactionResult | None = None
    error: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class RetryChanged:
    """A failed attempt is repeated after `delay_ms`, or the waiting has ended."""

    attempt: int
    max_attempts: int
    delay_ms: int
    status: Literal["waiting", "retrying", "succeeded", "failed", "cancelled"]
    error: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """Tokens in the window: None right after a compaction, when nobody knows."""

    context_tokens: int | None
    context_window: int
    last: Usage | None


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """Model, thinking level, tools, mode or name as they now are, and what the workspace may.

    `skipped`: what an untrusted workspace brings along, as (kind, path).
    """

    model: str | None
    images: bool
    thinking: ThinkingLevel
    name: str | None
    tools: tuple[str, ...]
    mode: str
    trusted: bool = True
    skipped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    """The list of slash commands is another one: ask for it."""


@dataclass(frozen=True, slots=True)
class PermissionChanged:
    """A permission or UI question was asked or is answered."""

    request_id: str
    status: Literal["open", "allowed", "denied", "answered", "cancelled"]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class EditsChanged:
    """The ledger of edits of this turn grew or an edit was taken back."""

    turn_id: str
    edit_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BashOutput:
    """More output of a command the user ran."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know; `code` is stable."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ExtensionFailed:
    """An extension failed and the run went on."""

    extension: str
    event: str
    message: str


SessionEvent = (
    RunStarted
    | StepStarted
    | MessageStarted
    | MessageDelta
    | MessageEnded
    | ToolStarted
    | ToolUpdated
    | ToolEnded
    | StepEnded
    | RunEnded
    | PhaseChanged
    | TurnStarted
    | TurnEnded
    | Settled
    | EntryAppended
    | LeafMoved
    | QueueChanged
    | ToolPending
    | CompactionStarted
    | CompactionDelta
    | CompactionEnded
    | RetryChanged
    | UsageChanged
    | ConfigChanged
    | CommandsChanged
    | PermissionChanged
    | EditsChanged
    | BashOutput
    | Warned
    | ExtensionFailed
)
