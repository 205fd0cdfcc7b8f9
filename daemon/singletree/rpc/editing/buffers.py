"""The open buffers of all clients, as one session's files see them.

A buffer with unsaved text counts before a clean one, a client of the session before others. A
buffer that is no file (`untitled:`) has the place that its address has as a path of the workspace:
that is how a tool that is given the address looks for it. Never changes a buffer. Read next:
../buffers/documents.py (one client's buffers), files.py (the files above them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from singletree.errors import ToolError
from singletree.rpc.buffers.documents import Document
from singletree.rpc.buffers.text import Text
from singletree.rpc.peer import Peer
from singletree.tools.leads import Leads
from singletree.tools.paths import resolve


@dataclass(frozen=True, slots=True)
class Opened:
    """A document in one client, as it was found at `revision`.

    `dirty`: it has text that the disk does not have.
    """

    peer: Peer
    document: Document
    dirty: bool
    revision: int

    @property
    def changed(self) -> bool:
        """Somebody has typed since."""
        return self.document.revision != self.revision


class Buffers:
    """Looks through the buffers of `peers`, which is asked each time anew."""

    def __init__(self, cwd: Path, peers: Callable[[], Sequence[Peer]], leads: Leads) -> None:
        self._cwd = cwd
        self._peers = peers
        self._leads = leads

    async def find(self, path: Path) -> list[Opened]:
        """Everywhere a file is open, unsaved ones first; a ToolError where its path was turned."""
        found: list[Opened] = []
        for peer in self._peers():
            document = await peer.documents.find(path) or self._nameless(peer, path)
            if document is not None:
                if document.real and document.path != str(path):  # by another name
                    self._leads.check(path, document.real)
                revision = document.revision
                found.append(Opened(peer, document, await document.dirty(), revision))
        return sorted(found, key=lambda opened: not opened.dirty)

    async def unsaved(self, path: Path) -> Document | None:
        """The buffer that counts before the disk, if there is one."""
        found = await self.find(path)
        return found[0].document if found and found[0].dirty else None

    def all_unsaved(self) -> dict[Path, Text]:
        """Every text that may not be on the disk, by real path, as it is at this moment."""
        found: dict[Path, Text] = {}
        for peer in self._peers():
            for document in peer.documents:
                if document.maybe_dirty and (place := self._place(document)) is not None:
                    found.setdefault(place, document.text.copy())
        return found

    def _nameless(self, peer: Peer, path: Path) -> Document | None:
        """The buffer that is no file and whose address, taken as a path, is this one."""
        return next((d for d in _nameless(peer) if self._as_path(d.uri) == path), None)

    def _place(self, document: Document) -> Path | None:
        if document.path is None:
            return self._as_path(document.uri) if document.uri.startswith("untitled:") else None
        return Path(document.real or document.path)

    def _as_path(self, uri: str) -> Path | None:
        try:
            return resolve(uri, self._cwd)
        except ToolError:
            return None


def data_of(text: Text) -> bytes:
    """A buffer's text as the bytes of a file."""
    return str(text).encode("utf-8", "surrogatepass")


def _nameless(peer: Peer) -> Iterator[Document]:
    return (document for document in peer.documents if document.path is None)
