"""The ledger of what the agent changed in files, and taking it back."""

from __future__ import annotations

from typing import Literal

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape


class Edit(Shape):
    """One change of one file. Hashes are SHA-256 in hex; null where there was or is no file.

    `by`: through the editor that had it open, or on the disk. `created`: there was no file before.
    `undone`: it was taken back.
    """

    edit_id: str
    turn_id: str
    tool_call_id: str
    uri: str
    before: str | None
    after: str | None
    by: Literal["editor", "disk"]
    created: bool = False
    undone: bool = False
    timestamp: str = ""


class EditsParams(SessionParams):
    """Edits of a turn, of a file, or of the whole session."""

    turn_id: str | None = None
    uri: str | None = None


class EditList(Result):
    """Oldest first."""

    edits: list[Edit]


class RevertParams(SessionParams):
    """What to take back: all of a turn, all of a file, single edits; with several, what fits all.

    One of them must be given.
    """

    turn_id: str | None = None
    uri: str | None = None
    edit_ids: list[str] | None = None


class Refused(Shape):
    """An edit that stays, and why: usually the file has changed since."""

    edit_id: str
    code: str
    message: str


class Reverted(Result):
    """What was taken back and what was not."""

    reverted: list[str]
    refused: list[Refused]


METHODS = (
    Method(
        "agent/edits/list",
        EditsParams,
        EditList,
        "What the agent changed in files, and whether it was taken back.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/edits/revert",
        RevertParams,
        Reverted,
        "Take edits back, newest first; a file that has changed since is left alone.",
        errors=("session_not_found", "not_found", "session_busy"),
    ),
)
