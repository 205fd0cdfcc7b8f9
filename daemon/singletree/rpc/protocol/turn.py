"""Saying something: prompt, steer, follow up, abort.

A turn is one user message or follow-up, from its start until the model stops and no steering waits;
retries and recovery are inside it. Each of these requests is answered as soon as the text is on
disk; the turn's end is the event `turn_ended`. Read next: events.py.
"""

from __future__ import annotations

from typing import Literal

from singletree.rpc.protocol.base import (
    JsonObject,
    Method,
    Result,
    SessionParams,
    Shape,
)
from singletree.rpc.protocol.content import Content, Range
from singletree.rpc.protocol.queue import QueueItem

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
AbortScope = Literal["turn", "tool", "retry", "compaction", "branchSummary", "bash"]


class Overrides(Shape):
    """Another model or thinking level for this turn alone. `model` is `provider/id`."""

    model: str | None = None
    thinking: ThinkingLevel | None = None


class ActiveEditor(Shape):
    """The document in front of the person. `visible` is what they see of it."""

    uri: str
    version: int | None = None
    language_id: str | None = None
    visible: Range | None = None


class SelectedRange(Shape):
    """What is selected in the active editor."""

    range: Range
    text: str | None = None


class EditorContext(Shape):
    """What the editor shows at this moment; `diagnostics` are LSP ones of the active document."""

    active_editor: ActiveEditor | None = None
    selection: SelectedRange | None = None
    diagnostics: list[JsonObject] | None = None


class SayParams(SessionParams):
    """A text for the agent.

    The same `clientMessageId` again gets the first answer again: a repeat is harmless.
    """

    content: Content
    client_message_id: str | None = None


class PromptParams(SayParams):
    """A new turn. `whenBusy` says what a text becomes while another turn runs."""

    when_busy: Literal["error", "steer", "followUp"] = "error"
    overrides: Overrides | None = None
    context: EditorContext | None = None


class PromptResult(Result):
    """`started`: a turn runs. `queued`: it waits.

    `handled`: a command or an extension did all there was to do; `note` is what it says of it.
    `messageId` is the id of the user's entry.
    """

    disposition: Literal["started", "queued", "handled"]
    turn_id: str | None = None
    queue_id: str | None = None
    message_id: str | None = None
    note: str | None = None


class SteerParams(SayParams):
    """A text into the running turn, seen by the model at its next step."""

    expected_turn_id: str | None = None
    when_idle: Literal["prompt", "queue", "error"] = "prompt"


class SteerResult(Result):
    """`injected`: the running turn takes it. `queued`: it waits. `started`: a turn was begun.

    `handled`: as for a prompt.
    """

    disposition: Literal["injected", "queued", "started", "handled"]
    turn_id: str | None = None
    queue_id: str | None = None
    message_id: str | None = None
    note: str | None = None


class FollowUpResult(Result):
    """`queued`: sent when the turn has ended, `position` counts from 0. `started`: it was idle.

    `handled`: as for a prompt.
    """

    disposition: Literal["queued", "started", "handled"]
    queue_id: str | None = None
    position: int | None = None
    turn_id: str | None = None
    message_id: str | None = None
    note: str | None = None


class AbortParams(SessionParams):
    """What to end, and what becomes of the texts that wait.

    Scope `tool`: the call `toolCallId`, or all that run; the turn goes on. `bash`: the commands
    run by hand. Queue `keep`: the texts stay and are not sent by themselves. `return`: they come
    back in the answer. `drop`: they are gone.
    """

    scope: AbortScope = "turn"
    turn_id: str | None = None
    tool_call_id: str | None = None
    queue: Literal["keep", "return", "drop"] = "keep"


class AbortResult(Result):
    """Answered when it has ended. `aborted` false: nothing ran. `forced`: it did not end in time.

    `queue`: the texts that came back.
    """

    aborted: bool
    forced: bool = False
    queue: list[QueueItem] | None = None


class BashParams(SessionParams):
    """A command of the person, not of the model. `cwd` is meant from the workspace on."""

    command: str
    cwd: str | None = None
    exclude_from_context: bool = False


class BashResult(Result):
    """How it ended; the output is bounded, `fullOutputUri` holds all of it.

    Its output streams as deltas of `entryId`. While a turn runs the entry itself waits for its end.
    """

    entry_id: str
    output: str
    exit_code: int | None
    truncated: bool = False
    cancelled: bool = False
    full_output_uri: str | None = None


_SAY = (
    "session_not_found",
    "no_model",
    "auth_required",
    "input_empty",
    "input_rejected",
    "extension_failed",
)

METHODS = (
    Method(
        "agent/prompt",
        PromptParams,
        PromptResult,
        "Start a turn. Answered when the user's message is in the session file and synced; the "
        "end is the event `turn_ended`. A text that begins with `/` may be a command.",
        errors=("session_busy", *_SAY),
    ),
    Method(
        "agent/steer",
        SteerParams,
        SteerResult,
        "Put a text into the running turn: the model sees it at its next step. When nothing runs, "
        "`whenIdle` decides.",
        errors=("no_active_turn", "turn_mismatch", "not_steerable", "queue_full", *_SAY),
    ),
    Method(
        "agent/followUp",
        SayParams,
        FollowUpResult,
        "Queue a text as the next turn; when nothing runs, start it.",
        errors=("queue_full", *_SAY),
    ),
    Method(
        "agent/abort",
        AbortParams,
        AbortResult,
        "End the running turn, or one part of the work. Answered when it has ended, after five "
        "seconds at the latest. `$/cancelRequest` never ends a turn; this does.",
        errors=("session_not_found", "turn_mismatch"),
    ),
    Method(
        "agent/bash",
        BashParams,
        BashResult,
        "Run a command of the person; its output becomes an entry that the model sees unless it "
        "is excluded. Answered when it has ended; `$/cancelRequest` ends it.",
        errors=("session_not_found", "input_empty", "not_found", "denied"),
    ),
)
