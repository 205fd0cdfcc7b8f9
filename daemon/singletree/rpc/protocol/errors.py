"""Every error a client can get: the JSON-RPC numbers, and the codes in `data.code`.

Numbers are those of JSON-RPC and LSP and no others; what happened is told by the code. Never knows
an exception: ../telling/failures.py maps those. Codes never change their meaning.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import JsonValue

from singletree.rpc.protocol.base import JsonObject, Shape

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802
REQUEST_FAILED = -32803

NUMBERS: dict[int, tuple[str, str]] = {
    PARSE_ERROR: ("ParseError", "The body is no JSON. The id of the answer is null."),
    INVALID_REQUEST: (
        "InvalidRequest",
        "No request at this moment or of this form: a batch, an id in use, a second `initialize`, "
        "anything after `shutdown`, a message over the size limit (`message_too_large`).",
    ),
    METHOD_NOT_FOUND: ("MethodNotFound", "This daemon does not serve the method."),
    INVALID_PARAMS: (
        "InvalidParams",
        "The params are not of the method's shape; `data.errors[]` lists `pointer` (a JSON "
        "pointer into the params) and `message`.",
    ),
    INTERNAL_ERROR: (
        "InternalError",
        "A fault of the daemon. `data.ref` finds it in the log; there is never a traceback here.",
    ),
    NOT_INITIALIZED: ("ServerNotInitialized", "A request before `initialize`."),
    CANCELLED: ("RequestCancelled", "Stopped by `$/cancelRequest`, or by `agent/abort`."),
    CONTENT_MODIFIED: (
        "ContentModified",
        "What the request expected (`expectedTurnId`, `expectedLeafId`, `version`) is no longer "
        "so. `data.detail` says what is; look again and repeat if it still makes sense.",
    ),
    SERVER_CANCELLED: ("ServerCancelled", "The daemon withdrew the request, for it shuts down."),
    REQUEST_FAILED: ("RequestFailed", "Anything else; `data.code` says what."),
}

ErrorCode = Literal[
    "auth_failed",
    "auth_required",
    "cancelled",
    "cancelled_by_extension",
    "context_overflow",
    "denied",
    "entry_not_found",
    "extension_failed",
    "input_empty",
    "input_rejected",
    "internal",
    "locked",
    "message_too_large",
    "no_active_turn",
    "no_model",
    "no_workspace",
    "not_a_user_message",
    "not_found",
    "not_steerable",
    "nothing_to_compact",
    "overloaded",
    "provider_error",
    "queue_full",
    "quota_exceeded",
    "rate_limited",
    "session_busy",
    "session_error",
    "session_not_found",
    "session_read_only",
    "session_unreadable",
    "settings_invalid",
    "stale",
    "tool_failed",
    "too_many_requests",
    "turn_mismatch",
    "unsupported",
    "unsupported_protocol_version",
    "untrusted_workspace",
    "workspace_not_found",
]

CODES: dict[str, str] = {
    "auth_failed": "The provider refused the key.",
    "auth_required": "No key is configured for the provider of the chosen model.",
    "cancelled": "Somebody stopped it with `agent/abort`; nothing has changed (number -32800).",
    "cancelled_by_extension": "An extension said no.",
    "context_overflow": "The request is larger than the model's window, and compacting did not do.",
    "denied": "A rule or a person said no.",
    "entry_not_found": "No entry with this id in the session.",
    "extension_failed": "An extension failed while it was needed for an answer.",
    "input_empty": "A prompt without content.",
    "input_rejected": "A content block that cannot be used, or an extension refused the input.",
    "internal": "A fault of the daemon.",
    "locked": "Another live process has the session open; `detail.pid` names it.",
    "message_too_large": "More than `limits.maxMessageBytes` in one message.",
    "no_active_turn": "Nothing runs that could be steered or aborted.",
    "no_model": "No model is chosen, or the chosen one is unknown.",
    "no_workspace": "No folder is open, or several are, and the request names none.",
    "not_a_user_message": "The entry is no message that could be said anew; fork `at` it.",
    "not_found": "No such thing: a model, a command, a queue item, a rule, a piece of content.",
    "not_steerable": "What runs cannot take a text now; `detail.phase` says what it is.",
    "nothing_to_compact": "The path is too short to be summed up.",
    "overloaded": "The provider has no room at the moment.",
    "provider_error": "The provider or the way to it failed; see `provider`.",
    "queue_full": "Too many texts wait already.",
    "quota_exceeded": "The provider's quota is used up.",
    "rate_limited": "The provider asks for a pause; see `retryAfterMs`.",
    "session_busy": "A turn, a compaction or a navigation is on.",
    "session_error": "The conversation or its file, where no other code fits.",
    "session_not_found": "No session with this id.",
    "session_read_only": "The file is from a newer version or may not be written.",
    "session_unreadable": "The file has no readable header; it was left untouched.",
    "settings_invalid": "A settings file is wrong; the message names the file and the key.",
    "stale": "What the request expected is no longer so (number -32801).",
    "tool_failed": "A tool failed outside of a turn.",
    "too_many_requests": "More than `limits.maxOpenRequests` requests wait for an answer.",
    "turn_mismatch": "Another turn than the expected one runs (number -32801).",
    "unsupported": "Known, but not on this machine, in this version or with this client.",
    "unsupported_protocol_version": "No common version of the agent protocol; LSP still works.",
    "untrusted_workspace": "Only for trusted workspaces.",
    "workspace_not_found": "The folder does not exist or is no folder.",
}

RETRYABLE = frozenset({"overloaded", "rate_limited", "session_busy", "too_many_requests"})
"""Codes whose request may be sent again as it is, after a pause."""

assert set(CODES) == set(get_args(ErrorCode))


class ProviderInfo(Shape):
    """What the provider said, as far as it said something."""

    name: str | None = None
    status: int | None = None


class ErrorInfo(Shape):
    """An error as a value inside events: a code, one line for a person, what to do about it."""

    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int | None = None
    hint: str | None = None
    detail: JsonObject | None = None
    provider: ProviderInfo | None = None


class ParamError(Shape):
    """One thing wrong with the params."""

    pointer: str
    message: str


class ErrorData(Shape):
    """`error.data` of a failed request. Only what is known is there.

    `errors` goes with -32602, `ref` (a mark in the daemon's log) with -32603.
    """

    code: str | None = None
    retryable: bool | None = None
    retry_after_ms: int | None = None
    hint: str | None = None
    detail: dict[str, JsonValue] | None = None
    provider: ProviderInfo | None = None
    errors: list[ParamError] | None = None
    ref: str | None = None
