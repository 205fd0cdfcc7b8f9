"""A session's file: read whole and forgiving, written one entry a write, never cut or rewritten.

Until something was said the lines wait in memory, as the bytes they will be. `recover` tells what
is damaged and copies the bytes aside. Knows lines and offsets, never what an entry means. Read
next: index.py (the heads of the lines), record.py (the tree and the file together).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from singletree.errors import SessionReadOnly, SessionUnreadable
from singletree.history.damage import WITH_BYTES, Damage, DamageKind, keep_aside
from singletree.history.entries import (
    SESSION_VERSION,
    Json,
    SessionHeader,
    decode,
    encode,
    header_of,
)
from singletree.history.index import Index
from singletree.history.lock import SessionLock
from singletree.history.upgrade import upgrade

CHECKED_TAIL = 256 * 1024
"""Bodies of so many last bytes are checked on opening: that is where crashes leave marks."""
_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20
_NOT_A_SESSION = "The file is no session file: it has no readable header. It was left as it is."
_RESCUE = "A recovered copy can be made of the entries that can still be read."


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of ours under the agent folder."""

    locks: Path
    damaged: Path

    @classmethod
    def under(cls, agent_dir: Path) -> Places:
        """The usual ones."""
        return cls(agent_dir / "singletree" / "locks", agent_dir / "singletree" / "damaged")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a file holds. `whole`: its last byte is a line feed.

    `upgraded`: of an older version, its content as version 3, to which the index then refers.
    """

    header: SessionHeader
    index: Index
    damage: tuple[Damage, ...]
    size: int
    whole: bool
    upgraded: bytes | None = None


def recover(path: Path, damaged: Path | None = None) -> Recovered:
    """Read a session file's heads; damaged bytes are copied into the folder `damaged`.

    SessionUnreadable where the first line that can be read is no header: nothing is touched then.
    """
    index = Index()
    with path.open("rb", buffering=_CHUNK) as file:
        size = os.fstat(file.fileno()).st_size
        header, raw_header = _read_header(file, index, path)
        if header.version < SESSION_VERSION:
            return _recover_older(path, file, index, raw_header, damaged)
        index.scan(file, check_from=max(0, size - CHECKED_TAIL))
        index.settle()
        file.seek(max(0, index.end - 1))
        whole = file.read(1) == b"\n"
        told = _kept_aside(file, index.damage, path.name, damaged)
    if header.version > SESSION_VERSION:
        told = (*told, Damage("newer_version", 1, id=str(header.version)))
    return Recovered(header, index, told, index.end, whole)


def _recover_older(
    path: Path, file: BinaryIO, index: Index, header: Json, damaged: Path | None
) -> Recovered:
    """A file of version 1 or 2, as version 3 in memory."""
    objects, older = [header], str(header.get("version") or 1)
    for raw in file:
        index.lines += 1
        data = decode(raw)
        if data is not None:
            objects.append(data)
        elif raw.strip():
            what: DamageKind = "broken_line" if raw.endswith(b"\n") else "torn_tail"
            index.damage.append(Damage(what, index.lines, index.end, len(raw)))
        index.end += len(raw)
    told = _kept_aside(file, index.damage, path.name, damaged)
    told = (*told, Damage("older_version", 1, id=older))
    lines = [encode(data) for data in upgrade(objects)]
    fresh = index_of(lines)
    new_header = header_of(decode(lines[0]) or {})
    assert new_header is not None
    return Recovered(new_header, fresh, told, fresh.end, True, b"".join(lines))


def read_header(path: Path) -> SessionHeader:
    """The header of a session file, and nothing else; SessionUnreadable where there is none."""
    with path.open("rb") as file:
        return _read_header(file, Index(), path)[0]


def index_of(lines: Sequence[bytes]) -> Index:
    """The index of lines that are in memory, header first."""
    index = Index()
    index.end, index.lines = len(lines[0]), 1
    index.scan(lines[1:])
    index.settle()
    return index


def _read_header(file: BinaryIO, index: Index, path: Path) -> tuple[SessionHeader, Json]:
    """The first line that can be read, which must be a header; what stands before it is damage."""
    for raw in file:
        index.lines += 1
        text = raw.removeprefix(_BOM) if index.end == 0 else raw
        data = decode(text)
        if data is not None:
            header = header_of(data)
            if header is None:
                break
            index.end += len(raw)
            return header, data
        if raw.strip():
            index.damage.append(Damage("before_header", index.lines, index.end, len(raw)))
        index.end += len(raw)
        if index.end > _CHUNK:
            break
    raise SessionUnreadable(_NOT_A_SESSION, hint=_RESCUE, detail={"path": str(path)})


def _kept_aside(
    file: BinaryIO, found: Sequence[Damage], name: str, folder: Path | None
) -> tuple[Damage, ...]:
    """The damage to tell: bytes copied aside now; what lay there already has been told before."""
    told: list[Damage] = []
    for one in found:
        if folder is None or one.kind not in WITH_BYTES:
            told.append(one)
            continue
        file.seek(one.offset)
        kept, new = keep_aside(folder, name, one.offset, file.read(one.size))
        if new:
            told.append(replace(one, kept=kept))
    return tuple(told)


class SessionLog:
    """The file of one open session, or the bytes it will have. One thread writes."""

    def __init__(
        self,
        path: Path | None,
        waiting: bytes,
        places: Places,
        session_id: str,
        lock: SessionLock | None = None,
    ) -> None:
        self.path = path
        self.read_only = False
        self.size = len(waiting)
        self._waiting: bytearray | None = bytearray(waiting)
        self._places = places
        self._session_id = session_id
        self._handle: int | None = None
        self._lock = lock
        self._line_feed_missing = False
        self._folder_synced = True

    @classmethod
    def of_file(
        cls, path: Path, places: Places, found: Recovered, lock: SessionLock | None
    ) -> SessionLog:
        """The log of an existing file; without a lock it is for reading only."""
        log = cls(path, b"", places, found.header.id, lock)
        log._waiting = None
        log.read_only = lock is None
        log.size = found.size
        log._line_feed_missing = found.size > 0 and not found.whole
        mode = os.O_RDONLY if lock is None else os.O_RDWR | os.O_APPEND
        log._handle = os.open(path, mode | os.O_CLOEXEC)
        return log

    @property
    def on_disk(self) -> bool:
        """Whether the file exists."""
        return self._handle is not None

    @property
    def line_feed_missing(self) -> bool:
        """Whether the last line has no end yet; the next append gives it one."""
        return self._line_feed_missing

    def append(self, line: bytes, create: bool = False) -> int:
        """Write one line; its offset. Raises with nothing changed in memory.

        `create`: from now on there is a file, with everything that waited in memory.
        """
        if self.read_only:
            raise SessionReadOnly("The session is open for reading only.", detail=self._where())
        if self._waiting is None:
            self._write(line)
        elif create and self.path is not None:
            self._create(self.path, bytes(self._waiting) + line)
        else:
            self._waiting += line
        self.size += len(line)
        return self.size - len(line)

    def create(self) -> None:
        """Make the file now, with what waits in memory; nothing to do for one kept in memory."""
        if self._waiting is not None and self.path is not None:
            self._create(self.path, bytes(self._waiting))

    def read(self, offset: int, size: int) -> bytes:
        """Bytes already appended."""
        if self._waiting is not None:
            return bytes(self._waiting[offset : offset + size])
        if self._handle is None:
            raise SessionUnreadable("The session is closed.", detail=self._where())
        return os.pread(self._handle, size, offset)

    def growth(self) -> bytes:
        """What another program has written since: whole lines, and a last one without its end."""
        if self._handle is None or self.path is None:
            return b""
        now = os.fstat(self._handle)
        try:
            there = self.path.stat()
        except OSError:
            there = None
        if there is None or there.st_ino != now.st_ino or now.st_size < self.size:
            raise SessionUnreadable(
                "The session file was removed, replaced or cut by another program; "
                "nothing was written. Open the session again.",
                detail=self._where(),
            )
        return self.read(self.size, now.st_size - self.size) if now.st_size > self.size else b""

    def take_growth(self, grown: bytes) -> None:
        """Count bytes of another program as part of the file."""
        self.size += len(grown)
        self._line_feed_missing = not grown.endswith(b"\n")

    def keep_aside(self, found: Damage, raw: bytes) -> tuple[Path | None, bool]:
        """Copy damaged bytes aside; where to, and whether they were not there before."""
        if self.path is None:
            return None, True
        return keep_aside(self._places.damaged, self.path.name, found.offset, raw)

    def sync(self) -> None:
        """Make sure that everything written survives a power cut. Slow: call it in a thread."""
        if self._handle is None or self.path is None or self.read_only:
            return
        os.fsync(self._handle)
        if not self._folder_synced:
            _sync_folder(self.path.parent)
            self._folder_synced = True

    def close(self) -> None:
        """Let the file and its lock go; what waits in memory is never written."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        self.read_only = True

    def _create(self, path: Path, content: bytes) -> None:
        """Make the file, which must not exist yet."""
        had_lock = self._lock
        lock = had_lock or SessionLock.take(self._places.locks, self._session_id)
        handle = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            handle = os.open(path, flags, 0o600)
            _write_all(handle, content)
        except BaseException:
            if handle is not None:
                os.close(handle)
                path.unlink(missing_ok=True)
            if had_lock is None:
                lock.release()
            raise
        self._handle, self._lock, self._waiting = handle, lock, None
        self._folder_synced = False

    def _write(self, line: bytes) -> None:
        """Append to the file, after the line feed that may be missing."""
        assert self._handle is not None
        lead = b"\n" if self._line_feed_missing else b""
        try:
            _write_all(self._handle, lead + line)
        except OSError:
            now = os.fstat(self._handle).st_size
            self._line_feed_missing |= now > self.size
            self.size = now
            raise
        self._line_feed_missing = False
        self.size += len(lead)

    def _where(self) -> dict[str, object]:
        return {"path": str(self.path)}


def _write_all(handle: int, data: bytes) -> None:
    """One write; only what the system left over takes another."""
    done = os.write(handle, data)
    while done < len(data):
        done += os.write(handle, data[done:])


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
