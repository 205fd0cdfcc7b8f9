"""All session files of a store: sorted, paged, searched, found by id.

What was read of a file is kept until the file changes. Never opens a session for writing. Read
next: listing.py (what is read of a file), store.py (which files there are).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from singletree.history.listing import Glance, Summary, found, glance, summarize
from singletree.history.names import same_folder, upgraded_path, valid_session_id
from singletree.pathtext import is_file, is_folder

_OWN, _MOVED, _ELSEWHERE = range(3)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Sessions, the one used last first; `next` is the cursor of the following page."""

    sessions: tuple[Summary, ...]
    next: str | None


class Shelf:
    """The sessions whose files `files` gives; `folder` says where those of a workspace stand."""

    def __init__(self, files: Callable[[], Iterator[Path]], folder: Callable[[str], Path]) -> None:
        self._files = files
        self._folder = folder
        self._glances = _Kept(glance)
        self._summaries = _Kept(_summary_of)

    def find(self, session_id: str, cwd: str | None = None) -> Path | None:
        """The file of a session, of any workspace or of one.

        One whose header cannot be read is known by the end of its name.
        """
        if not valid_session_id(session_id):
            return None
        files = list(self._files())
        files.sort(key=lambda path: not path.stem.endswith(f"_{session_id}"))
        for path in files:
            known = self._glances.of(path)
            if known is None or known.header.id != session_id:
                continue
            if cwd is None or self._belongs(known, cwd):
                copy = upgraded_path(path)
                return copy if is_file(copy) else path
        return next((path for path in files if self._named(path, session_id, cwd)), None)

    def _named(self, path: Path, session_id: str, cwd: str | None) -> bool:
        """Whether a file bears the name of a session, and says nothing itself."""
        here = cwd is None or path.parent == self._folder(cwd)
        return here and path.stem.endswith(f"_{session_id}") and self._glances.of(path) is None

    def ids(self, beginning: str) -> list[str]:
        """Ids that begin so, sorted; one that is whole stands alone."""
        known = {one.header.id for one in map(self._glances.of, self._files()) if one is not None}
        found = sorted(one for one in known if one.startswith(beginning))
        return [beginning] if beginning in found else found

    def latest(self, cwd: str) -> Path | None:
        """The session of a workspace that was written last; reads few files, for starts wait."""
        folders = {self._folder(cwd), self._folder(os.path.realpath(cwd))}
        files = [path for folder in folders for path in folder.glob("*.jsonl") if is_file(path)]
        written = [(_written(path), path) for path in files]
        for _, path in sorted(written, reverse=True):
            known = self._glances.of(path)
            if known is not None and self._belongs(known, cwd):
                return path
        return None

    def unreadable(self, cwd: str) -> list[Path]:
        """Files of a workspace without a readable header, of which no copy was recovered yet."""
        files = (p for p in self._folder(cwd).glob("*.jsonl") if is_file(p))
        lost = [p for p in files if self._glances.of(p) is None]
        copied = {known.header.parent_session for known in self._all()} if lost else set()
        return [path for path in lost if str(path) not in copied and path.stat().st_size]

    def page(
        self, cwd: str | None, query: str | None, limit: int, cursor: str | None
    ) -> SummaryPage:
        """Sessions of a workspace, then those whose folder is gone; or all sessions."""
        ranked = sorted(
            ((self._rank(known, cwd), -known.updated_at, str(known.path)), known)
            for known in self._all()
        )
        tokens = (query or "").lower().split()
        page: list[Summary] = []
        for place in range(int(cursor or 0), len(ranked)):
            (rank, _, _), known = ranked[place]
            if rank == _ELSEWHERE:
                break
            if tokens and not found(known.path, tokens):
                continue
            if len(page) == limit:
                return SummaryPage(tuple(page), str(place))
            summary = self._summaries.of(known.path)
            if summary is not None:
                page.append(summary)
        return SummaryPage(tuple(page), None)

    def _all(self) -> list[Glance]:
        """Every session once: one that was upgraded is its newer file."""
        all_of_them = [known for path in self._files() if (known := self._glances.of(path))]
        there = {known.path for known in all_of_them}
        return [known for known in all_of_them if upgraded_path(known.path) not in there]

    def _rank(self, known: Glance, cwd: str | None) -> int:
        if cwd is None or self._belongs(known, cwd):
            return _OWN
        where = known.header.cwd
        return _MOVED if where and not is_folder(where) else _ELSEWHERE

    def _belongs(self, known: Glance, cwd: str) -> bool:
        """Whether a session is of a workspace; one that does not say is where its file stands."""
        if not known.header.cwd:
            return known.path.parent == self._folder(cwd)
        return same_folder(known.header.cwd, cwd)


class _Kept(Generic[T]):
    """What is read of a file, read once for each state of the file."""

    def __init__(self, read: Callable[[Path], T | None]) -> None:
        self._read = read
        self._known: dict[Path, tuple[tuple[int, int], T | None]] = {}

    def of(self, path: Path) -> T | None:
        """What is read of it; None where it is gone or no session."""
        try:
            now = path.stat()
        except OSError:
            self._known.pop(path, None)
            return None
        state = now.st_mtime_ns, now.st_size
        known = self._known.get(path)
        if known is None or known[0] != state:
            known = self._known[path] = state, self._read(path)
        return known[1]


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _summary_of(path: Path) -> Summary | None:
    known = glance(path)
    return None if known is None else summarize(known)
