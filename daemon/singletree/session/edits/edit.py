"""One edit of a file as it is noted, and the hashes by which its text is known again.

Values only. Read next: ledger.py.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

Status = Literal["open", "landed", "dropped", "undone"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one file. Hashes are SHA-256; `before` None: there was no file.

    `planned` and `text_before` are hashes of `plain` text. `kept`: the text before is here.
    `folders` were made for the file, outermost first.
    """

    id: str
    turn_id: str
    call_id: str
    path: str
    uri: str
    by: Literal["editor", "disk"]
    before: str | None
    text_before: str | None
    planned: str
    timestamp: str
    kept: bool = True
    folders: tuple[str, ...] = ()
    status: Status = "open"
    after: str | None = None
    text_after: str | None = None

    @property
    def created(self) -> bool:
        """The file is one of ours."""
        return self.before is None

    def left(self, data: bytes | None) -> bool:
        """Whether this content is what the edit left behind."""
        return data is not None and text_digest(data) == self.text_after

    def found(self, data: bytes | None) -> bool:
        """Whether this content is what was there before the edit."""
        return (None if data is None else text_digest(data)) == self.text_before

    def landed(self, after: bytes) -> Edit:
        """The same when it is made; `after` is what the file now holds."""
        return replace(self, status="landed", after=digest(after), text_after=text_digest(after))


class Note:
    """How an edit that is being made ended: whoever makes it says so."""

    def __init__(self) -> None:
        self.status: Status = "open"
        self.after = b""

    def landed(self, after: bytes) -> None:
        """It is there; `after` is what the file now holds."""
        self.status, self.after = "landed", after

    def dropped(self) -> None:
        """Nothing was changed."""
        self.status = "dropped"


def plain(data: bytes) -> bytes:
    """A text without a byte order mark and with LF line ends: what editors agree on."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def text_digest(data: bytes) -> str:
    """The hash of the plain text."""
    return digest(plain(data))


def digest(data: bytes) -> str:
    """The hash of the bytes."""
    return hashlib.sha256(data).hexdigest()
