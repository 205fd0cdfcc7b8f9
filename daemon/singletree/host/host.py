"""All live sessions of a process: opened, found, forked, closed.

A workspace may have several live sessions; one of them is current. Turns live in the host's task
group, so that a turn belongs to no request. Never parses a request. Read next: assembly.py (how a
session is put together), ../session/session.py (one conversation).
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from singletree.errors import SessionLocked, SingletreeError, UnknownSession
from singletree.history.listing import unsaid
from singletree.history.record import History
from singletree.history.store import Store, SummaryPage
from singletree.host.assembly import Assembly
from singletree.host.options import Front, Options
from singletree.model.catalog import ModelListing
from singletree.pathtext import is_folder
from singletree.session.dependencies import Dependencies
from singletree.session.dependencies import Start as Reason
from singletree.session.edits.ledger import ledger_folder
from singletree.session.session import AgentSession
from singletree.session.tree.totals import Totals, totals

log = logging.getLogger(__name__)

RELOAD = 3.0
"""Seconds an open waits for another holder of the lock: a window that reloads."""
PAUSE = 0.1
SHOWN = 300
LARGE = 10_000
"""Entries of a session whose memory is worth a look of the garbage collector (about 10 ms)."""
GONE_BY = 1.0
"""Seconds after which nobody holds a closed session any more."""

LOST = (
    "The session file {path} has no readable header and was left as it is; agent/session/new with "
    "`recover`, or `singletree sessions --recover`, makes a copy of what can still be read."
)
HELD = "The newest session of this folder is open in process {pid}; a new one was begun."
CLOSING = "The session is still being closed; try again in a moment."
NO_FOLDER = "There is no folder {cwd}; give the whole path of one that exists."
NOT_SAID = "The session file does not say which folder it is of."
TELL = "Open the session by its id together with a folder."
MOVED = "Of a project that was moved: open the session by its id together with its new folder."

Start = Literal["continue", "new"]


class Host:
    """All live sessions of a process."""

    def __init__(self, options: Options, front: Front, tasks: TaskGroup) -> None:
        self.assembly = Assembly(options, front, tasks)
        self._tasks = tasks
        self._sessions: dict[str, AgentSession] = {}
        self._current: dict[str, str] = {}
        self._opening = anyio.Lock()
        self._closing: set[str] = set()

    def get(self, session_id: str) -> AgentSession:
        """A live session."""
        try:
            return self._sessions[session_id]
        except KeyError:
            raise UnknownSession(
                f"No session {session_id} is open; open it with agent/session/open.",
                detail={"sessionId": session_id},
            ) from None

    def is_live(self, session_id: str) -> bool:
        """Whether it is open in this process."""
        return session_id in self._sessions

    @property
    def live(self) -> Sequence[AgentSession]:
        """All that are open."""
        return tuple(self._sessions.values())

    def current(self, cwd: Path) -> AgentSession | None:
        """The current session of a workspace, if one is open."""
        return self._sessions.get(self._current.get(place(cwd), ""))

    async def open(
        self, cwd: Path | None, start: Start = "continue", session_id: str | None = None
    ) -> AgentSession:
        """Open a session and make it the current one of its workspace.

        By its id, or the newest of the folder, or a new one. One that is open is given as it is.
        Raises `cancelled_by_extension` where an extension of the one it would replace says so.
        """
        if session_id is not None:
            await self._ask_leave(session_id, cwd)
            return await self._patiently(lambda: self._open_id(session_id, cwd))
        assert cwd is not None
        cwd = check_folder(cwd)
        if start == "new":
            await self._ask_leave(None, cwd)
            return await self._begin(cwd, "new")
        if (live := self.current(cwd)) is not None:
            return live
        try:
            return await self._patiently(lambda: self._continue(cwd))
        except SessionLocked as error:
            session = await self._begin(cwd, "startup")
            session.warn("locked", HELD.format(pid=error.detail.get("pid")))
            return session

    async def switch(self, session_id: str | None, path: Path | None) -> AgentSession:
        """Make another session current: by its file, else by id."""
        if path is None and session_id is not None:
            await self._ask_leave(session_id, None)
            return await self._patiently(lambda: self._open_id(session_id, None))
        if path is None or not path.is_absolute():
            raise UnknownSession("Name the session by its id or by the whole path of its file.")
        if (live := self._with_file(path)) is not None:
            await self._ask_leave(live.id, None)
        return await self._patiently(lambda: self._open_file(path))

    async def recover(self, path: Path, cwd: Path) -> AgentSession:
        """A new session with what can still be read of a file that has no readable header."""
        cwd = check_folder(cwd)
        store = await self.assembly.store(cwd)
        history = await anyio.to_thread.run_sync(store.rescue, path, str(cwd))
        return await self._take(history, cwd, "new")

    async def fork(
        self,
        session: AgentSession,
        entry_id: str,
        position: Literal["before", "at"],
        cwd: Path | None,
    ) -> tuple[AgentSession, str | None]:
        """A new session from a place of another; it is current, and has a file once one speaks."""
        folder = check_folder(cwd or session.cwd)
        await session.check_fork(entry_id, position)
        store = await self.assembly.store(folder)
        forked = await anyio.to_thread.run_sync(
            lambda: store.fork(session.history, entry_id, position, str(folder))
        )
        return await self._take(forked.history, folder, "fork"), forked.text

    async def list(
        self, cwd: Path | None, *, query: str | None, limit: int, cursor: str | None
    ) -> SummaryPage:
        """Sessions of a workspace, or of all, the newest first.

        Before all stand those in which nothing was said yet, which have no file.
        """
        store = await self.assembly.store(cwd)
        folder = None if cwd is None else str(cwd)
        begun = self._begun(cwd, (query or "").lower().split()) if cursor is None else []
        rest = max(0, limit - len(begun))

        def look() -> SummaryPage:
            page = store.list(folder, query=query, limit=rest, cursor=cursor)
            return SummaryPage((*map(unsaid, begun), *page.sessions), page.next)

        return await anyio.to_thread.run_sync(look)

    def _begun(self, cwd: Path | None, words: Sequence[str]) -> Sequence[History]:
        """The current sessions, and those with a name, that have no file yet; the newest first."""
        current = set(self._current.values())
        return [
            one.history
            for one in reversed(self.live)
            if not one.history.on_disk
            and (cwd is None or place(one.cwd) == place(cwd))
            and (one.history.name or (one.id in current and not words))
            and all(word in (one.history.name or "").lower() for word in words)
        ]

    @asynccontextmanager
    async def look(self, session_id: str) -> AsyncIterator[History]:
        """A session to read in, whether it is open or not."""
        if (live := self._sessions.get(session_id)) is not None:
            yield live.history
            return
        store = await self.assembly.store_of(session_id)
        history = await anyio.to_thread.run_sync(lambda: store.open_id(session_id, read_only=True))
        try:
            yield history
        finally:
            await _let_go(history)

    async def delete(self, session_id: str) -> None:
        """Put a session's file into the trash folder; what was kept to take edits back goes."""
        store = await self.assembly.store_of(session_id)
        path = await anyio.to_thread.run_sync(store.find, session_id)
        if path is None:
            raise UnknownSession(f"There is no session {session_id}.")
        await anyio.to_thread.run_sync(store.delete, path)
        ledger = ledger_folder(self.assembly.options.agent_dir, session_id)
        await anyio.to_thread.run_sync(shutil.rmtree, ledger, True)

    async def close(self, session: AgentSession) -> None:
        """End what runs in it, save it, let its file go. Once begun it is done to its end."""
        self._sessions.pop(session.id, None)
        if self._current.get(place(session.cwd)) == session.id:
            del self._current[place(session.cwd)]
        self._closing.add(session.id)
        try:
            with anyio.CancelScope(shield=True):
                await session.close()
        finally:
            self._closing.discard(session.id)
        if session.history.entry_count >= LARGE:
            self._tasks.start_soon(_free)

    async def close_all(self) -> None:
        """The end: every session is saved. What keeps one from it is logged and stops no other."""

        async def let_go(session: AgentSession) -> None:
            try:
                await self.close(session)
            except SingletreeError as error:
                log.error("session %s: %s", session.id, error.message)

        async with anyio.create_task_group() as group:
            for session in self.live:
                group.start_soon(let_go, session)

    async def end(self) -> None:
        """Every session is saved, every connection closed."""
        await self.close_all()
        await self.assembly.catalog.close()

    async def models(self) -> Sequence[ModelListing]:
        """What there is, and what each model lacks to be used."""
        catalog = self.assembly.catalog
        await catalog.discover()
        return await anyio.to_thread.run_sync(catalog.list)

    def look_again(self) -> None:
        """Keys or models have changed: every session finds its model anew before its next turn."""
        for session in self.live:
            session.choice.forget_found()

    async def usage(self, session: AgentSession) -> Totals:
        """Tokens and cost over all branches of a session."""
        return await anyio.to_thread.run_sync(totals, session.history)

    async def _patiently(self, opening: Callable[[], Awaitable[AgentSession]]) -> AgentSession:
        """Open one at a time; a session that another process holds is tried again for a while.

        Meanwhile others may be opened.
        """
        until = anyio.current_time() + RELOAD
        while True:
            async with self._opening:
                try:
                    return await opening()
                except SessionLocked:
                    if anyio.current_time() >= until:
                        raise
            await anyio.sleep(PAUSE)

    async def _open_id(self, session_id: str, cwd: Path | None) -> AgentSession:
        if (live := self._sessions.get(session_id)) is not None:
            self._current[place(live.cwd)] = live.id
            return live
        store = await self.assembly.store_of(session_id, cwd)
        history = await anyio.to_thread.run_sync(store.open_id, session_id)
        return await self._take(history, cwd or await folder_of(history), "resume")

    async def _open_file(self, path: Path) -> AgentSession:
        if (live := self._with_file(path)) is not None:
            self._current[place(live.cwd)] = live.id
            return live
        store = await self.assembly.store(None)
        history = await anyio.to_thread.run_sync(store.open, path)
        return await self._take(history, await folder_of(history), "resume")

    def _with_file(self, path: Path) -> AgentSession | None:
        """The open session of a file."""
        return next((s for s in self.live if place(s.history.file) == place(path)), None)

    async def _ask_leave(self, session_id: str | None, cwd: Path | None) -> None:
        """Let the extensions of a session say no to another one taking its place."""
        live = self._sessions.get(session_id or "")
        folder = live.cwd if live is not None else cwd
        present = None if folder is None else self.current(folder)
        if present is not None and present is not live:
            await present.check_switch("new" if session_id is None else "resume", session_id)

    async def _continue(self, cwd: Path) -> AgentSession:
        """The newest session of a folder; a new one if there is none."""
        if (live := self.current(cwd)) is not None:
            return live
        store = await self.assembly.store(cwd)
        path = await anyio.to_thread.run_sync(store.latest, str(cwd))
        if path is None:
            session = await self._take(store.create(str(cwd)), cwd, "startup")
        else:
            history = await anyio.to_thread.run_sync(store.open, path)
            session = await self._take(history, cwd, "resume")
        self.assembly.spawn(lambda: self._tell_lost(store, session))
        return session

    async def _tell_lost(self, store: Store, session: AgentSession) -> None:
        """Tell of files that cannot be opened; looked for behind the answer, for starts wait."""
        for lost in await anyio.to_thread.run_sync(store.unreadable, str(session.cwd)):
            session.warn("session_unreadable", LOST.format(path=lost))

    async def _begin(self, cwd: Path, reason: Reason) -> AgentSession:
        """A new session."""
        store = await self.assembly.store(cwd)
        return await self._take(store.create(str(cwd)), cwd, reason)

    async def _take(self, history: History, cwd: Path, reason: Reason) -> AgentSession:
        parts: Dependencies | None = None
        try:
            if history.id in self._closing:
                raise SessionLocked(CLOSING, detail={"pid": os.getpid()})
            cwd = check_folder(cwd)
            parts = await self.assembly.parts(history, cwd, reason)
            session = AgentSession(parts)
            await session.begin()
        except BaseException:
            await _let_go(history)
            for extension in (*parts.extensions, *parts.of_workspace) if parts else ():
                extension.drop()
            raise
        self._sessions[session.id] = session
        self._current[place(cwd)] = session.id
        wished = session.choice.ref or parts.settings().default_model
        self.assembly.spawn(lambda: self.assembly.warm_up(wished))
        return session


async def folder_of(history: History) -> Path:
    """The folder a session says it is of; the session is closed where it says nothing."""
    if not history.header.cwd:
        await _let_go(history)
        raise SingletreeError(NOT_SAID, code="workspace_not_found", hint=TELL)
    return Path(history.header.cwd)


async def _let_go(history: History) -> None:
    with anyio.CancelScope(shield=True):
        await anyio.to_thread.run_sync(history.close)


async def _free() -> None:
    """The parts of a session know each other, so only the collector frees them.

    By itself it would not come for long: it counts objects, and an index has few, however large.
    """
    await anyio.sleep(GONE_BY)
    gc.collect()


def check_folder(cwd: Path) -> Path:
    """The folder by its shortest name; raise where there is none.

    What is no whole path is never guessed at.
    """
    if not (cwd.is_absolute() and is_folder(cwd)):
        shown = str(cwd) if len(str(cwd)) < SHOWN else f"{str(cwd)[:SHOWN]}…"
        raise SingletreeError(NO_FOLDER.format(cwd=shown), code="workspace_not_found", hint=MOVED)
    short = Path(os.path.normpath(cwd))
    return short if place(short) == place(cwd) else cwd


def place(path: Path) -> str:
    """One name for a folder or file, by whatever path it is reached."""
    return os.path.realpath(path)
