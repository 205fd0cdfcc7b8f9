"""Where sessions live: made, opened, found, listed, forked, put away.

Files and folders are pi's. A session in which nothing was said has no file. What is put away goes
into a trash folder of ours; nothing is ever deleted. Never calls a model, never reads settings.
Read next: record.py (one session), listing.py (what a list shows), forking.py (copies).
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.errors import SessionError, SessionUnreadable, UnknownSession, or_session_error
from singletree.history.bodies import Bodies
from singletree.history.entries import (
    KINDS,
    SESSION_VERSION,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    SessionHeader,
    dump,
    iso_now,
)
from singletree.history.forking import readable_lines
from singletree.history.index import Index
from singletree.history.listing import Summary
from singletree.history.lock import SessionLock
from singletree.history.log import Folders, SessionLog
from singletree.history.names import (
    file_name,
    folder_name,
    new_session_id,
    original_path,
    upgraded_path,
    valid_session_id,
)
from singletree.history.record import HERE, EntryPage, History
from singletree.history.recovery import index_of, read_header, recover
from singletree.history.shelf import Shelf, SummaryPage
from singletree.history.tree import SessionTree
from singletree.messages import UserMessage, own_words
from singletree.pathtext import LONG, is_file, is_there, read_plain
from singletree.private import make_private

NOT_PUT_AWAY = "The session cannot be put away into {path}: {why}. It stays where it is."

__all__ = ["HERE", "EntryPage", "Forked", "History", "Store", "Summary", "SummaryPage"]


NOTHING_TO_RESCUE = "No entry of a session can be read in {path}; nothing was made of it."
NOT_LOST = "The session file has a readable header: open it as it is."


@dataclass(frozen=True, slots=True)
class Forked:
    """A new session, and the text of the user message it was forked before."""

    history: History
    text: str | None


class Store:
    """All sessions under an agent folder, or those in one other folder.

    `session_dir` holds the sessions of every workspace side by side; without it each workspace has
    a folder of its own.
    """

    def __init__(self, agent_dir: Path, session_dir: Path | None = None) -> None:
        self._agent_dir = agent_dir
        self._session_dir = session_dir
        self._folders = Folders.under(agent_dir)
        self._shelf = Shelf(self._files, self.folder)

    def folder(self, cwd: str) -> Path:
        """Where the sessions of a workspace stand."""
        return self._session_dir or self._agent_dir / "sessions" / folder_name(cwd)

    # -- one session

    def create(self, cwd: str, parent: str | None = None, *, id: str | None = None) -> History:
        """A new session; its file appears when something is said. `parent`: the file it is of."""
        header = _new_header(cwd, parent, id)
        return self._fresh(header, [dump(header)], self._file(header))

    def open(self, path: Path, *, read_only: bool = False) -> History:
        """Open a session file for writing.

        Opened for reading only where `read_only` is asked for, the version is newer than ours, or
        the file may not be written. SessionLocked, SessionUnreadable, UnknownSession otherwise.
        """
        try:
            if not path.is_file():
                raise UnknownSession(f"There is no session file {path}.", detail=_at(path))
            if path.stat().st_size == 0 and not read_only:
                self._fill(path)
            header = read_header(path)
            copy = upgraded_path(path)
            if header.version < SESSION_VERSION and is_file(copy):
                return self.open(copy, read_only=read_only)
            fixed = read_only or header.version > SESSION_VERSION or not os.access(path, os.W_OK)
            lock = None if fixed else SessionLock.take(self._folders.locks, header.id)
            return self._opened(path, lock, told=not read_only)
        except OSError as error:
            raise SessionUnreadable(
                f"The session cannot be opened: {error.strerror}.", detail=_at(path)
            ) from error

    def open_id(self, session_id: str, *, read_only: bool = False) -> History:
        """Open a session by its id, wherever its workspace is now."""
        path = self.find(session_id)
        if path is None:
            raise UnknownSession(f"There is no session {session_id}.", detail={"id": session_id})
        return self.open(path, read_only=read_only)

    def find(self, session_id: str, cwd: str | None = None) -> Path | None:
        """The file of a session, of any workspace or of one."""
        return self._shelf.find(session_id, cwd)

    def ids(self, beginning: str) -> Sequence[str]:
        """Ids of sessions that begin so; one that is whole stands alone."""
        return self._shelf.ids(beginning)

    def latest(self, cwd: str) -> Path | None:
        """The session of a workspace that was written last."""
        return self._shelf.latest(cwd)

    def unreadable(self, cwd: str) -> Sequence[Path]:
        """Files of a workspace without a readable header: `rescue` makes a copy of one."""
        return self._shelf.unreadable(cwd)

    def list(
        self,
        cwd: str | None = None,
        query: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> SummaryPage:
        """Sessions of a workspace, or of all, the one used last first.

        Of a workspace are also, behind its own, those whose folder is gone: it may have been moved
        here. `query`: every word of it occurs in the names or texts.
        """
        return self._shelf.page(cwd, query, limit, cursor)

    # -- copies

    def fork(
        self,
        history: History,
        at: str,
        position: Literal["before", "at"] = "before",
        cwd: str | None = None,
    ) -> Forked:
        """A new session with the path to an entry, or to what stands before a user message.

        Then the message's text comes back, to be edited. A fork in which nothing was said has no
        file yet. The source is not changed.
        """
        entry = history.entry(at)
        upto: str | None = at
        text: str | None = None
        if position == "before":
            text, upto = _editable_text(entry), entry.parent_id
        header = _new_header(cwd or history.header.cwd, _source(history), None)
        lines = history.path_lines(upto)
        return Forked(self._copied(header, lines, self._file(header)), text)

    def rescue(self, path: Path, cwd: str) -> History:
        """A new session with all entries that can be read of a file whose header cannot.

        UnknownSession where there is no such file, SessionUnreadable where it holds no entry;
        SessionError where it can be opened as it is.
        """
        content = _lost(path)
        index = Index()
        index.scan(io.BytesIO(content))
        if not any(kind.type in KINDS for kind in index.kinds):
            raise SessionUnreadable(NOTHING_TO_RESCUE.format(path=path), detail=_at(path))
        tree = SessionTree(index)
        bodies = Bodies(tree, lambda offset, size: content[offset : offset + size])
        header = _new_header(cwd, str(path), None)
        return self._copied(header, readable_lines(tree, bodies), self._file(header))

    def delete(self, path: Path) -> Path:
        """Put a session away into the trash folder; where it is now. Not while it is open."""
        header = read_header(path)
        lock = SessionLock.take(self._folders.locks, header.id)
        try:
            with or_session_error(NOT_PUT_AWAY, self._folders.trash):
                there = _put_into(self._folders.trash, path)
                older = original_path(path)
                if older is not None and is_file(older):
                    _put_into(self._folders.trash, older)
        finally:
            lock.release()
        return there

    # -- helpers

    def _file(self, header: SessionHeader) -> Path:
        return self.folder(header.cwd) / file_name(header.timestamp, header.id)

    def _fill(self, path: Path) -> None:
        """Give an empty file a header, unless another process has just done so."""
        lock = SessionLock.take(self._folders.locks, str(path.resolve()))
        try:
            if path.stat().st_size == 0:
                with path.open("ab") as file:
                    file.write(dump(_new_header("", None, None)))
        finally:
            lock.release()

    def _opened(self, path: Path, lock: SessionLock | None, *, told: bool) -> History:
        """Read a file and take it up for writing if it is locked. `told`: damage will be told."""
        try:
            found = recover(path, self._folders.damaged if told else None)
            upgraded = found.upgraded
            if upgraded is None:
                log = SessionLog.of_file(
                    path, self._folders, found.header.id, lock, size=found.size, whole=found.whole
                )
            else:
                copy = upgraded_path(path)
                log = SessionLog(copy, upgraded, self._folders, found.header.id, lock)
                log.read_only = lock is None
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        later = upgraded is not None
        return History(found.header, found.index, log, found.damage, create_now=later)

    def _fresh(self, header: SessionHeader, lines: Sequence[bytes], path: Path) -> History:
        log = SessionLog(path, b"".join(lines), self._folders, header.id)
        return History(header, index_of(lines), log)

    def _copied(self, header: SessionHeader, body: Iterable[bytes], path: Path) -> History:
        """A new session with these lines; its file is there at once if anything was said."""
        made = self._fresh(header, [dump(header), *body], path)
        made.settle()
        return made

    def _files(self) -> Iterator[Path]:
        """Every session file there is."""
        if self._session_dir is not None:
            found = self._session_dir.glob("*.jsonl")
        else:
            found = (self._agent_dir / "sessions").glob("*/*.jsonl")
        # A pipe of such a name would hold whoever opens it.
        yield from sorted(path for path in found if is_file(path))


def _put_into(trash: Path, path: Path) -> Path:
    make_private(trash)
    there = trash / path.name
    if is_there(there):
        there = trash / f"{path.stem}.{new_session_id()}{path.suffix}"
    shutil.move(path, there)
    return there


def _lost(path: Path) -> bytes:
    """What stands in a file whose header cannot be read."""
    try:
        content = read_plain(path, LONG)
        read_header(path)
    except SessionUnreadable:
        return content
    except OSError as error:
        text = f"There is no session file {path}: {error.strerror}."
        raise UnknownSession(text, detail=_at(path)) from None
    except ValueError:  # a NUL, or half a character
        raise UnknownSession(f"There is no session file {path}.") from None
    raise SessionError(NOT_LOST, detail=_at(path))


def _at(path: Path) -> dict[str, object]:
    return {"path": str(path)}


def _new_header(cwd: str, parent: str | None, session_id: str | None) -> SessionHeader:
    if session_id is not None and not valid_session_id(session_id):
        raise SessionError(f"{session_id!r} cannot be a session's id.")
    return SessionHeader(
        version=SESSION_VERSION,
        id=session_id or new_session_id(),
        timestamp=iso_now(),
        cwd=cwd,
        parent_session=parent,
    )


def _source(history: History) -> str | None:
    return str(history.file) if history.on_disk else None


def _editable_text(entry: Entry) -> str:
    """The text of a message that can be written anew."""
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        return own_words(entry.message.content)
    if isinstance(entry, CustomMessageEntry):
        return own_words(entry.content)
    raise SessionError(
        f"Entry {entry.id} is no user message, so there is nothing to fork before.",
        code="not_a_user_message",
        hint='Fork with position "at" to keep the entry.',
    )
