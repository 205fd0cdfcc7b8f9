"""The buffers a client has open: text, version, and whether they are saved.

A buffer counts as unsaved when its text differed from the disk as it was opened, or was changed
since it was opened or saved, and the disk still says something else. Once the two were seen to be
the same (an editor that reloads a file, a change taken back) the disk counts again. Comparing is
done in a thread and ignores how lines end (some editors always send LF). Documents are found by
path as well: the same file has several names. Never knows a tool or an edit of ours. Read next:
text.py, ../lsp/sync.py, ../editing/buffers.py (all clients' documents).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from singletree.pathtext import read_plain
from singletree.rpc.buffers.changes import unix
from singletree.rpc.buffers.text import Encoding, Position, Text

_MARKS: Final = 4
"""Bytes of a byte-order mark."""

log = logging.getLogger(__name__)

QUIET: Final = 0.3
"""Seconds without a change after which a buffer is compared with the disk."""


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a didChange; without a range the text is the whole new text."""

    text: str
    start: Position | None = None
    end: Position | None = None


@dataclass(slots=True, eq=False)
class Document:
    """An open buffer. `path` is None for one that is no file (`untitled:`).

    `changed`: since it was opened or saved. `differed`: from the disk when it was opened; None
    until that is known. `real`: the path behind all links, once somebody asked. `revision`
    counts all changes of the text, `heard` are called after each.
    """

    uri: str
    language: str
    version: int
    text: Text
    path: str | None
    changed: bool = False
    differed: bool | None = None
    real: str | None = None
    revision: int = 0
    heard: list[Callable[[], None]] = field(default_factory=list)
    _settling: asyncio.Task[None] | None = None

    async def compare(self) -> None:
        """Compare with the disk, right after it was opened."""
        text = self.text.copy()
        await self.place()
        differs = await asyncio.to_thread(differs_from_disk, self.path, text)
        if self.differed is None:
            self.differed = differs

    async def place(self) -> str | None:
        """The path behind all links; None for what is no file."""
        if self.real is None and self.path is not None:
            self.real = await asyncio.to_thread(os.path.realpath, self.path)
        return self.real

    async def dirty(self) -> bool:
        """Whether the person has text here that the disk does not have."""
        if self.differed is None:
            await self.compare()
        if not self.maybe_dirty:
            return False
        revision = self.revision
        differs = await asyncio.to_thread(differs_from_disk, self.path, self.text.copy())
        if not differs and revision == self.revision:
            self.saved()
        return differs

    @property
    def maybe_dirty(self) -> bool:
        """Whether it may have text that the disk does not have: without looking there."""
        return self.changed or self.differed is not False

    def settle(self) -> None:
        """Look at the disk once no more changes come: an editor may just have reloaded the file."""
        if self._settling is None:
            self._settling = asyncio.ensure_future(self._settle())

    async def _settle(self) -> None:
        revision = -1
        while revision != self.revision:
            revision = self.revision
            await asyncio.sleep(QUIET)
        self._settling = None
        await self.dirty()

    def saved(self) -> None:
        """The disk has this text."""
        self.changed = self.differed = False


class Documents:
    """All open buffers of one client; `encoding` is how it counts characters."""

    def __init__(self, encoding: Encoding = "utf-16") -> None:
        self.encoding = encoding
        self._by_uri: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._by_uri.values())

    def open(self, uri: str, language: str, version: int, text: str) -> Document:
        """A buffer was opened; `compare` it next. One that is open already is replaced."""
        document = Document(uri, language, version, Text(text), path_of(uri))
        self._by_uri[_key(uri)] = document
        return document

    def change(self, uri: str, version: int | None, changes: Sequence[Change]) -> None:
        """A buffer was edited."""
        if (document := self.get(uri)) is None:
            log.warning("a change of a document that is not open: %s", uri)
            return
        for change in changes:
            if change.start is None or change.end is None:
                document.text = Text(change.text)
            else:
                document.text.replace(change.start, change.end, change.text, self.encoding)
        document.changed = True
        document.version = document.version + 1 if version is None else version
        document.revision += 1
        for hear in tuple(document.heard):
            hear()

    def save(self, uri: str) -> None:
        """A buffer was written to the disk."""
        if (document := self.get(uri)) is not None:
            document.saved()

    def close(self, uri: str) -> None:
        """A buffer was closed; from now on the disk counts."""
        self._by_uri.pop(_key(uri), None)

    def get(self, uri: str) -> Document | None:
        """The open document with this address, however it is escaped."""
        return self._by_uri.get(_key(uri))

    async def find(self, path: str | Path) -> Document | None:
        """The open document of a file, by this name or any other."""
        if (document := self.get(uri_of(path))) is not None:
            return document
        if not self._by_uri:
            return None
        real = await asyncio.to_thread(os.path.realpath, path)
        for document in tuple(self):
            if real in (document.path, await document.place()):
                return document
        return None


def differs_from_disk(path: str | None, text: Text) -> bool:
    """Whether the file has another text; where there is none, whether the buffer has any."""
    if path is None:
        return True
    shown = str(text)
    try:
        data = read_plain(path, 4 * len(shown) + _MARKS)  # no encoding takes more
    except FileNotFoundError:
        return shown != ""
    except OSError:
        return True
    wanted = unix(shown)
    return all(unix(found) != wanted for found in _decoded(data))


def path_of(uri: str) -> str | None:
    """The path of a file URI; None for any other, and for what no path can be."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path, errors="surrogateescape")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return None
    return os.path.normpath(path) if path.startswith("/") and "\0" not in path else None


def uri_of(path: str | Path) -> str:
    """The file URI of a path."""
    return "file://" + quote(os.fsencode(path))


def _key(uri: str) -> str:
    path = path_of(uri)
    return uri if path is None else uri_of(path)


def _decoded(data: bytes) -> Iterator[str]:
    """The texts an editor may have read from these bytes."""
    for encoding in ("utf-8-sig", "utf-8", "utf-16", "cp1252", "latin-1"):
        try:
            yield data.decode(encoding)
        except UnicodeError:
            continue
