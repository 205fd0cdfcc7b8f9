"""What the loop tells, one frozen class per thing that happens.

A run holds steps; a step is one model call with its tools (the wire's turn is a whole run for one
user message). Read next: loop.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from singletree.agent.tool import ToolOutput
from singletree.errors import SingletreeError
from singletree.messages import AgentMessage, AssistantMessage, ToolCall, ToolResultMessage
from singletree.model.base import Delta


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The loop began."""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A model call is about to be made; `index` counts from 0 in this run."""

    index: int


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """A message with the id of the entry to be. For an answer, `message` is still empty."""

    id: str
    message: AgentMessage


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """More of the answer `id`."""

    id: str
    event: Delta


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The message is whole: now it is stored."""

    id: str
    message: AgentMessage


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call passed the gate and runs."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolUpdated:
    """More output of a running tool: text to append."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has its answer, in order of completion. `status` says how it came to it."""

    call: ToolCall
    output: ToolOutput
    status: Literal["completed", "failed", "cancelled", "rejected"]
    duration_ms: int


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The answer and the results of its calls, in source order."""

    message: AssistantMessage
    results: tuple[ToolResultMessage, ...]


RunReason = Literal["finished", "stopped", "aborted", "error", "max_steps"]


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The loop is over; `messages` are all that it added.

    finished: the model stopped by itself. stopped: `finish_step` said so. aborted: the caller's
    scope was cancelled. error: `error` says what failed; the last answer holds what was streamed.
    max_steps: the limit was reached while the model wanted to go on.
    """

    messages: tuple[AgentMessage, ...]
    reason: RunReason = "finished"
    error: SingletreeError | None = None


AgentEvent = (
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
)
