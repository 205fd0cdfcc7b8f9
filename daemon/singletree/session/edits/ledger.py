"""What the agent changed in files, and what was there before: nothing of it is lost in a crash.

An edit is on the disk, with the text that was there before, when it is begun; how it ended is added
when that is known. One that a crash or an abort left open is settled by what the file then holds.
Lives beside the session (`singletree/edits/<session>/`): lines in `ledger.jsonl`, texts by their
hash. Never changes a file of the workspace. Read next: revert.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from pydantic import JsonValue, TypeAdapter, ValidationError

from singletree.errors import or_session_error
from singletree.history.handles import sync_folder
from singletree.session.events import EditsChanged
from singletree.session.files import make_private

MAX_KEPT = 32 * 1024 * 1024
"""Bytes of a file up to which its text before an edit is kept."""

UNREADABLE = "The edits of this session cannot be read in {path}: {why}."
NOT_KEPT = "What the file holds before an edit cannot be kept in {path} ({why}), so none is made."

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


class Note:
    """An edit that is being made: say how it ended."""

    def __init__(self, edit: Edit) -> None:
        self.edit = edit
        self.status: Status = "open"
        self.after = b""

    def landed(self, after: bytes) -> None:
        """It is there; `after` is what the file now holds."""
        self.status, self.after = "landed", after

    def dropped(self) -> None:
        """Nothing was changed."""
        self.status = "dropped"


class Ledger:
    """The edits of one session. `turn` gives the running turn's id; `tell` tells of changes."""

    def __init__(
        self, folder: Path, turn: Callable[[], str], tell: Callable[[EditsChanged], None]
    ) -> None:
        self._folder = folder
        self._turn = turn
        self._tell = tell
        self._lock = anyio.Lock()
        self._known: dict[str, Edit] | None = None
        self._making: set[str] = set()

    async def edits(self, read: Callable[[Path], Awaitable[bytes | None]]) -> list[Edit]:
        """All that landed, oldest first; what is open and no longer being made is settled."""
        known = await self._all()
        for edit in [e for e in known.values() if e.status == "open"]:
            if edit.id not in self._making:
                with contextlib.suppress(OSError):
                    await self._settle(edit, await read(Path(edit.path)))
        return [edit for edit in known.values() if edit.status in ("landed", "undone")]

    @asynccontextmanager
    async def making(
        self,
        path: Path,
        uri: str,
        before: bytes | None,
        planned: bytes,
        *,
        by: Literal["editor", "disk"],
        call_id: str,
        folders: Sequence[str] = (),
    ) -> AsyncIterator[Note]:
        """Around the making of an edit; it is on the disk before the block begins."""
        await self._all()
        edit = Edit(
            id=secrets.token_hex(6),
            turn_id=self._turn(),
            call_id=call_id,
            path=str(path),
            uri=uri,
            by=by,
            before=None if before is None else _digest(before),
            text_before=None if before is None else text_digest(before),
            planned=text_digest(planned),
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            kept=before is None or len(before) <= MAX_KEPT,
            folders=tuple(folders),
        )
        note = Note(edit)
        self._making.add(edit.id)
        try:
            with anyio.CancelScope(shield=True):
                if before is not None and edit.kept:
                    await anyio.to_thread.run_sync(self._keep, before)
                await self._put(edit)
            yield note
        finally:
            self._making.discard(edit.id)
            with anyio.CancelScope(shield=True):
                await self._finish(note)

    async def text_before(self, edit: Edit) -> bytes:
        """What was in the file. OSError where it was not kept."""
        return await anyio.to_thread.run_sync(self._kept, edit.before or "")

    async def undone(self, edit: Edit) -> None:
        """It was taken back."""
        await self._put(replace(edit, status="undone"))
        self._tell(EditsChanged(edit.turn_id, (edit.id,)))

    async def _settle(self, edit: Edit, data: bytes | None) -> None:
        if data is not None and text_digest(data) == edit.planned:
            await self._put(_landed(edit, data))
            self._tell(EditsChanged(edit.turn_id, (edit.id,)))
        elif edit.found(data):
            await self._put(replace(edit, status="dropped"))

    async def _finish(self, note: Note) -> None:
        if note.status == "dropped":
            await self._put(replace(note.edit, status="dropped"))
        elif note.status == "landed":
            await self._put(_landed(note.edit, note.after))
            self._tell(EditsChanged(note.edit.turn_id, (note.edit.id,)))

    async def _all(self) -> dict[str, Edit]:
        async with self._lock:
            if self._known is None:
                self._known = await anyio.to_thread.run_sync(self._load)
            return self._known

    async def _put(self, edit: Edit) -> None:
        """The edit as it now is: in memory, and as one more line."""
        known = await self._all()
        async with self._lock:
            await anyio.to_thread.run_sync(self._append, edit)
            known[edit.id] = edit

    # -- on the disk, in a worker thread

    def _load(self) -> dict[str, Edit]:
        """The last line of each edit counts; a line that a crash cut off does not."""
        path = self._folder / "ledger.jsonl"
        known: dict[str, Edit] = {}
        with or_session_error(UNREADABLE, self._folder):
            lines = path.read_bytes().split(b"\n") if path.exists() else []
        for line in lines:
            try:
                edit = _EDIT.validate_json(line)
            except ValidationError:
                continue
            known[edit.id] = edit
        return known

    def _append(self, edit: Edit) -> None:
        with or_session_error(NOT_KEPT, self._folder):
            self._write_line(edit)

    def _write_line(self, edit: Edit) -> None:
        make_private(self._folder)
        path = self._folder / "ledger.jsonl"
        line = json.dumps(_as_json(edit), ensure_ascii=True).encode() + b"\n"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "a+b") as file:  # noqa: PTH123
            size = file.seek(0, os.SEEK_END)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if not size:
            sync_folder(self._folder)

    def _keep(self, data: bytes) -> None:
        with or_session_error(NOT_KEPT, self._folder):
            self._write_text(data)

    def _write_text(self, data: bytes) -> None:
        texts = self._folder / "texts"
        make_private(texts)
        path = texts / _digest(data)
        if path.exists():
            return
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(fresh, flags, 0o600), "wb") as file:  # noqa: PTH123
            file.write(zlib.compress(data, 1))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(texts)

    def _kept(self, digest: str) -> bytes:
        return zlib.decompress((self._folder / "texts" / digest).read_bytes())


def ledger_folder(agent_dir: Path, session_id: str) -> Path:
    """Where the ledger of a session lies."""
    return agent_dir / "singletree" / "edits" / session_id


def plain(data: bytes) -> bytes:
    """A text without a byte order mark and with LF line ends: what editors agree on."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def text_digest(data: bytes) -> str:
    """The hash of the plain text."""
    return _digest(plain(data))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _landed(edit: Edit, after: bytes) -> Edit:
    return replace(edit, status="landed", after=_digest(after), text_after=text_digest(after))


_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


def _as_json(edit: Edit) -> Mapping[str, JsonValue]:
    made: dict[str, JsonValue] = _EDIT.dump_python(edit, mode="json")
    return made
