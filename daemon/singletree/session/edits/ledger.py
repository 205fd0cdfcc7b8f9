"""What the agent changed in files, and what was there before: nothing of it is lost in a crash.

An edit is on the disk, with the text that was there before, when it is begun; how it ended is added
when that is known. One that a crash or an abort left open is settled by what the file then holds.
Lives beside the session (`singletree/edits/<session>/`): lines in `ledger.jsonl`, texts by their
hash. Never changes a file of the workspace. Read next: edit.py, texts.py, revert.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from pydantic import JsonValue, TypeAdapter, ValidationError

from singletree.errors import SessionError, ToolError, or_session_error
from singletree.history.handles import sync_folder
from singletree.private import make_private
from singletree.session.edits.edit import Edit, Note, digest, text_digest
from singletree.session.edits.texts import keep_text, kept_text
from singletree.session.events import EditsChanged

MAX_KEPT = 32 * 1024 * 1024
"""Bytes of a file up to which its text before an edit is kept."""

DAMAGED = "{count} lines of {path} cannot be read: the edits they tell of cannot be taken back."
UNREADABLE = "The edits of this session cannot be read in {path}: {why}."
NOT_KEPT = "What the file holds before an edit cannot be kept in {path} ({why}), so none is made."
NOT_NOTED = "How an edit ended cannot be written down in {path} ({why}); the file itself shows it."


class Ledger:
    """The edits of one session. `turn` gives the running turn's id; `tell` tells of changes.

    `warn` is told what of it cannot be read, when it is first looked at, or cannot be written down.
    """

    def __init__(
        self,
        folder: Path,
        turn: Callable[[], str],
        tell: Callable[[EditsChanged], None],
        warn: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._turn = turn
        self._tell = tell
        self._warn = warn
        self._lock = anyio.Lock()
        self._known: dict[str, Edit] | None = None
        self._making: set[str] = set()

    async def edits(self, read: Callable[[Path], Awaitable[bytes | None]]) -> list[Edit]:
        """All that landed, oldest first; what is open and no longer being made is settled."""
        known = await self._all()
        for edit in [e for e in known.values() if e.status == "open"]:
            if edit.id not in self._making:
                with contextlib.suppress(OSError, ToolError):
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
            before=None if before is None else digest(before),
            text_before=None if before is None else text_digest(before),
            planned=text_digest(planned),
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            kept=before is None or len(before) <= MAX_KEPT,
            folders=tuple(folders),
        )
        note = Note()
        self._making.add(edit.id)
        try:
            with anyio.CancelScope(shield=True):
                if before is not None and edit.kept:
                    await anyio.to_thread.run_sync(self._keep, before)
                await self._put(edit, NOT_KEPT)
            yield note
        finally:
            self._making.discard(edit.id)
            with anyio.CancelScope(shield=True):
                await self._finish(edit, note)

    async def text_before(self, edit: Edit) -> bytes:
        """What was in the file. OSError where it was not kept."""
        return await anyio.to_thread.run_sync(kept_text, self._texts, edit.before or "")

    async def undone(self, edit: Edit) -> None:
        """It was taken back."""
        await self._ended(replace(edit, status="undone"))
        self._tell(EditsChanged(edit.turn_id, (edit.id,)))

    async def _settle(self, edit: Edit, data: bytes | None) -> None:
        if data is not None and text_digest(data) == edit.planned:
            await self._ended(edit.landed(data))
            self._tell(EditsChanged(edit.turn_id, (edit.id,)))
        elif edit.found(data):
            await self._ended(replace(edit, status="dropped"))

    async def _finish(self, edit: Edit, note: Note) -> None:
        if note.status == "dropped":
            await self._ended(replace(edit, status="dropped"))
        elif note.status == "landed":
            await self._ended(edit.landed(note.after))
            self._tell(EditsChanged(edit.turn_id, (edit.id,)))

    async def _all(self) -> dict[str, Edit]:
        async with self._lock:
            if self._known is None:
                known, damaged = await anyio.to_thread.run_sync(self._load)
                self._known = known
                if damaged:
                    self._warn(DAMAGED.format(count=damaged, path=self._file))
            return self._known

    async def _ended(self, edit: Edit) -> None:
        """How it ended is so, also where it cannot be written down: the next life sees it."""
        try:
            await self._put(edit, NOT_NOTED)
        except SessionError as error:
            (await self._all())[edit.id] = edit
            self._warn(error.message)

    async def _put(self, edit: Edit, refused: str) -> None:
        """The edit as it now is: in memory, and as one more line."""
        known = await self._all()
        async with self._lock:
            await anyio.to_thread.run_sync(self._append, edit, refused)
            known[edit.id] = edit

    # -- on the disk, in a worker thread

    @property
    def _file(self) -> Path:
        return self._folder / "ledger.jsonl"

    @property
    def _texts(self) -> Path:
        return self._folder / "texts"

    def _load(self) -> tuple[dict[str, Edit], int]:
        """The edits, of each its last line, and how many lines are damaged.

        A line that a crash cut off is none of them: its edit was not begun, or the file shows how
        it ended.
        """
        known: dict[str, Edit] = {}
        damaged = 0
        with or_session_error(UNREADABLE, self._folder):
            lines = self._file.read_bytes().split(b"\n") if self._file.exists() else []
        for line in lines:
            try:
                edit = _EDIT.validate_json(line)
            except ValidationError:
                damaged += line.endswith(b"}")
            else:
                known[edit.id] = edit
        return known, damaged

    def _keep(self, text: bytes) -> None:
        with or_session_error(NOT_KEPT, self._folder):
            keep_text(self._texts, text)

    def _append(self, edit: Edit, refused: str) -> None:
        with or_session_error(refused, self._folder):
            self._write_line(edit)

    def _write_line(self, edit: Edit) -> None:
        make_private(self._folder)
        line = json.dumps(_as_json(edit), ensure_ascii=True).encode() + b"\n"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(self._file, flags, 0o600), "a+b") as file:  # noqa: PTH123
            size = file.seek(0, os.SEEK_END)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if not size:
            sync_folder(self._folder)


def ledger_folder(agent_dir: Path, session_id: str) -> Path:
    """Where the ledger of a session lies."""
    return agent_dir / "singletree" / "edits" / session_id


_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


def _as_json(edit: Edit) -> Mapping[str, JsonValue]:
    made: dict[str, JsonValue] = _EDIT.dump_python(edit, mode="json")
    return made
