"""What went wrong, as it travels: our errors as error answers, and inside events.

A number of JSON-RPC or LSP, one plain line, and data that says what to do. Never a text that could
move a terminal's cursor; never knows an error that nobody foresaw (../work.py answers those). Read
next: ../protocol/errors.py (what is published).
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import to_jsonable_python

from singletree.errors import ModelError, SingletreeError, StaleError
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.errors import (
    CANCELLED,
    CONTENT_MODIFIED,
    INVALID_REQUEST,
    REQUEST_FAILED,
    RETRYABLE,
)
from singletree.session.events import ErrorInfo

WireError = tuple[int, str, JsonObject]


def to_error(exc: BaseException) -> WireError | None:
    """An error of ours as an error answer: number, one line, data; None for any other."""
    if not isinstance(exc, SingletreeError) or exc.code == "internal":
        return None
    return _number(exc), one_line(exc.message), _error_data(exc)


def error_info(error: ErrorInfo) -> JsonObject:
    """An error inside an event."""
    made: JsonObject = {
        "code": error.code,
        "message": one_line(error.message),
        "retryable": error.retryable,
    }
    if error.retry_after is not None:
        made["retryAfterMs"] = round(error.retry_after * 1000)
    if error.hint:
        made["hint"] = error.hint
    if error.detail:
        made["detail"] = plain(error.detail)
    provider = _provider(error.provider, error.status)
    if provider:
        made["provider"] = provider
    return made


def plain(detail: Mapping[str, object]) -> JsonObject:
    """Details as JSON; what is no JSON as its text."""
    made: JsonObject = to_jsonable_python(dict(detail), fallback=str, inf_nan_mode="null")
    return made


def one_line(text: str) -> str:
    """The text without line ends and control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _number(exc: SingletreeError) -> int:
    if isinstance(exc, StaleError):
        return CONTENT_MODIFIED
    if exc.code == "cancelled":
        return CANCELLED
    return INVALID_REQUEST if exc.code == "message_too_large" else REQUEST_FAILED


def _error_data(exc: SingletreeError) -> JsonObject:
    data: JsonObject = {
        "code": exc.code,
        "retryable": exc.retryable or exc.code in RETRYABLE,
    }
    if exc.hint:
        data["hint"] = exc.hint
    if exc.detail:
        data["detail"] = plain(exc.detail)
    if isinstance(exc, ModelError):
        if exc.retry_after is not None:
            data["retryAfterMs"] = round(exc.retry_after * 1000)
        provider = _provider(exc.provider, exc.status)
        if provider:
            data["provider"] = provider
    return data


def _provider(name: str | None, status: int | None) -> JsonObject:
    made: JsonObject = {}
    if name:
        made["name"] = name
    if status is not None:
        made["status"] = status
    return made
