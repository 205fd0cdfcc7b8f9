"""What can go wrong: one tree of errors, each kind with a stable code.

    SingletreeError             code, one plain line that says what to do
    ├── ModelError              the provider or the way to it (retryable, retry_after)
    │   ├── ContextOverflow     the request is larger than the model's window
    │   ├── EmptyAnswer         the model ended without saying or asking anything
    │   └── AuthMissing         no key is configured
    ├── ToolError               text for the model; never ends a run
    ├── SessionError            the conversation or its file
    │   ├── SessionBusy, UnknownSession, UnknownEntry, SessionLocked,
    │   └── SessionUnreadable, SessionReadOnly
    ├── StaleError              somebody else was first (expected leaf, version, turn)
    ├── SettingsError           settings.json, models.json, auth.json
    └── ExtensionError          an extension failed

This module never knows a JSON-RPC number: rpc/telling/failures.py maps codes to them. The codes are
the published list of protocol.md; they never change their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue


class SingletreeError(Exception):
    """Base of all: `code` is stable, the message is one line for a person.

    `detail` holds JSON values for the client (a pid, a path, a provider's status); `hint` says
    what to set or do when the message alone does not.
    """

    code = "internal"
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        detail: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(" ".join(message.split()))
        if code is not None:
            self.code = code
        self.hint = hint
        self.detail: Mapping[str, object] = detail or {}

    @property
    def message(self) -> str:
        """The one line."""
        return str(self.args[0])


class ModelError(SingletreeError):
    """A provider refused, failed or fell silent.

    `retryable`: the same request may succeed later. `retry_after`: seconds the provider asked for.
    `status`: the HTTP status where there was one.
    """

    code = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        detail: Mapping[str, object] | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        provider: str | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint, detail=detail)
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.provider = provider


class ContextOverflow(ModelError):
    """The request does not fit the model's window."""

    code = "context_overflow"


class EmptyAnswer(ModelError):
    """The model ended its answer without text, thinking or a call; asked once more, not oftener."""


class AuthMissing(ModelError):
    """No key is configured for the provider of the chosen model."""

    code = "auth_required"


class ToolError(SingletreeError):
    """A tool's failure, told to the model as an error result; the message may have many lines.

    `details` are kept in the session and never sent to a model.
    """

    code = "tool_failed"

    def __init__(self, message: str, details: JsonValue = None) -> None:
        super().__init__("")
        self.args = (message,)
        self.details = details


class SessionError(SingletreeError):
    """The conversation or its file."""

    code = "session_error"


class SessionBusy(SessionError):
    """A turn, a compaction or a navigation is on."""

    code = "session_busy"


class UnknownSession(SessionError):
    """No session with this id."""

    code = "session_not_found"


class UnknownEntry(SessionError):
    """No entry with this id in the session."""

    code = "entry_not_found"


class SessionLocked(SessionError):
    """Another live process has the file open; `detail["pid"]` names it."""

    code = "locked"


class SessionUnreadable(SessionError):
    """The file has no readable header; it was left untouched."""

    code = "session_unreadable"


class SessionReadOnly(SessionError):
    """The file is from a newer version or may not be written; it is open for reading only."""

    code = "session_read_only"


class StaleError(SingletreeError):
    """What the caller expected is no longer so; `detail` says what is."""

    code = "stale"


class SettingsError(SingletreeError):
    """A settings file is wrong; the message names the file and the key."""

    code = "settings_invalid"


class ExtensionError(SingletreeError):
    """An extension failed; reported, never the end of a run."""

    code = "extension_failed"


def in_words(error: BaseException) -> str:
    """Any error as one line: our own words, the disk's with its file, else the kind as well."""
    match error:
        case SingletreeError():
            return error.message
        case OSError(strerror=str(why), filename=str(name)):
            return f"{name}: {why}"
        case _:
            try:
                return f"{type(error).__name__}: {error}".rstrip(": ")
            except Exception:  # others' errors may have no words
                return type(error).__name__


@contextmanager
def or_session_error(form: str, path: object) -> Iterator[None]:
    """What the disk refuses in this block is a SessionError: `form` with its {path} and {why}."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SessionError(form.format(path=path, why=why), detail={"path": str(path)}) from error
