"""What a session says of itself: values for doors, computed, never stored.

Read next: session.py (who computes them).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.errors import ModelError, SingletreeError
from singletree.messages import AssistantMessage, ThinkingLevel
from singletree.session.events import ErrorInfo, Phase, QueueItem, TurnReason

Disposition = Literal["started", "queued", "injected", "handled"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a text: its turn, its place in the queue, or its entry.

    `handled`: a command or an extension did all there was to do; `note` is what it answered.
    """

    disposition: Disposition
    turn_id: str | None = None
    queue_id: str | None = None
    message_id: str | None = None
    position: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Aborted:
    """What an abort did. `forced`: it did not end within 5 s; the run is left to die by itself."""

    aborted: bool
    forced: bool = False
    queue: tuple[QueueItem, ...] = ()


@dataclass(frozen=True, slots=True)
class LastTurn:
    """How the newest finished turn ended."""

    turn_id: str
    reason: TurnReason
    error: ErrorInfo | None


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens in the window; None when nobody knows (right after a compaction)."""

    tokens: int | None
    window: int

    @property
    def percent(self) -> float | None:
        """Of the window."""
        return (
            None
            if self.tokens is None or not self.window
            else round(100 * self.tokens / self.window, 1)
        )


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """An answer that streams: the entry to be, and what has come so far."""

    entry_id: str
    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything a client needs to draw the session without its history."""

    session_id: str
    cwd: Path
    path: Path | None
    name: str | None
    phase: Phase
    turn_id: str | None
    model: str | None
    images: bool
    thinking: ThinkingLevel
    tools: tuple[str, ...]
    mode: str
    queue: tuple[QueueItem, ...]
    queue_version: int
    leaf_id: str | None
    tree_version: int
    entry_count: int
    message_count: int
    context: ContextUse
    trusted: bool
    skipped: tuple[tuple[str, str], ...]
    read_only: bool
    notices: tuple[tuple[str, str], ...]


def error_info(error: SingletreeError) -> ErrorInfo:
    """An exception of our tree as a value for events."""
    model = error if isinstance(error, ModelError) else None
    return ErrorInfo(
        error.code,
        error.message,
        error.retryable,
        model.retry_after if model else None,
        error.hint,
        error.detail or None,
        model.status if model else None,
        model.provider if model else None,
    )
