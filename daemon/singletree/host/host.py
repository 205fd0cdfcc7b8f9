"""All live sessions of a process: opened, found, forked, closed.

A workspace may have several live sessions; one of them is current. Turns live in the host's task
group, so that a turn belongs to no request. Never parses a request. Read next: assembly.py (how a
session is put together), ../session/session.py (one conversation).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from singletree.errors import SessionLocked, SingletreeError, UnknownSession
from singletree.history.record import History
from singletree.history.store import Store, SummaryPage
from singletree.host.assembly import Assembly
from singletree.host.options import Front, Options
from singletree.model.catalog import ModelListing
from singletree.session.session import AgentSession
from singletree.session.totals import Totals, totals

RELOAD = 3.0
"""Seconds an explicit open waits for another holder of the lock: a window that reloads."""

Start = Literal["continue", "new"]


class Host:
    """All live sessions of a process."""

    def __init__(self, options: Options, front: Front, tasks: TaskGroup) -> None:
        self.assembly = Assembly(options, front, tasks)
        self._sessions: dict[str, AgentSession] = {}
        self._current: dict[Path, str] = {}
        self._opening = anyio.Lock()

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
        return self._sessions.get(self._current.get(cwd, ""))

    async def open(
        self, cwd: Path | None, start: Start = "continue", session_id: str | None = None
    ) -> AgentSession:
        """Open a session and make it the current one of its workspace.

        By its id, or the newest of the folder, or a new one. One that is open is given as it is.
        """
        async with self._opening:
            if session_id is not None:
                return await self._open_id(session_id, cwd)
            assert cwd is not None
            check_folder(cwd)
            live = self.current(cwd) if start == "continue" else None
            if live is not None:
                return live
            store = await self.assembly.store(cwd)
            path = None
            if start == "continue":
                path = await anyio.to_thread.run_sync(store.latest, str(cwd))
            if path is None:
                return await self._take(store.create(str(cwd)), cwd)
            return await self._continue(store, path, cwd)

    async def switch(self, session_id: str | None, path: Path | None) -> AgentSession:
        """Make another session current: by id, or by its file."""
        async with self._opening:
            if session_id is not None:
                return await self._open_id(session_id, None)
            if path is None:
                raise UnknownSession("Name the session by its id or by its file.")
            known = next((s for s in self.live if s.history.file == path), None)
            if known is not None:
                self._current[known.cwd] = known.id
                return known
            store = await self.assembly.store(None)
            history = await anyio.to_thread.run_sync(lambda: store.open(path, wait=RELOAD))
            return await self._take(history, Path(history.header.cwd))

    async def fork(
        self,
        session: AgentSession,
        entry_id: str,
        position: Literal["before", "at"],
        cwd: Path | None,
    ) -> tuple[AgentSession, str | None]:
        """A new session from a place of another; it is current, and has a file once one speaks."""
        folder = cwd or session.cwd
        check_folder(folder)
        store = await self.assembly.store(folder)
        forked = await anyio.to_thread.run_sync(
            lambda: store.fork(session.history, entry_id, position)
        )
        return await self._take(forked.history, folder), forked.text

    async def list(
        self, cwd: Path | None, *, query: str | None, limit: int, cursor: str | None
    ) -> SummaryPage:
        """Sessions of a workspace, or of all, the newest first."""
        store = await self.assembly.store(cwd)
        folder = None if cwd is None else str(cwd)
        return await anyio.to_thread.run_sync(
            lambda: store.list(folder, query=query, limit=limit, cursor=cursor)
        )

    async def delete(self, session_id: str) -> None:
        """Put a session's file into the trash folder."""
        store = await self.assembly.store(None)
        path = await anyio.to_thread.run_sync(store.find, session_id)
        if path is None:
            raise UnknownSession(f"There is no session {session_id}.")
        await anyio.to_thread.run_sync(store.delete, path)

    async def close(self, session: AgentSession) -> None:
        """End what runs in it, save it, let its file go."""
        self._sessions.pop(session.id, None)
        if self._current.get(session.cwd) == session.id:
            del self._current[session.cwd]
        await session.close()

    async def close_all(self) -> None:
        """The end: every session is saved."""
        async with anyio.create_task_group() as group:
            for session in self.live:
                group.start_soon(self.close, session)

    async def models(self) -> Sequence[ModelListing]:
        """What there is, and what each model lacks to be used."""
        catalog = self.assembly.catalog
        await catalog.discover()
        return await anyio.to_thread.run_sync(catalog.list)

    async def usage(self, session: AgentSession) -> Totals:
        """Tokens and cost over all branches of a session."""
        return await anyio.to_thread.run_sync(totals, session.history)

    async def _open_id(self, session_id: str, cwd: Path | None) -> AgentSession:
        if (live := self._sessions.get(session_id)) is not None:
            self._current[live.cwd] = live.id
            return live
        store = await self.assembly.store(cwd)
        history = await anyio.to_thread.run_sync(lambda: store.open_id(session_id, wait=RELOAD))
        folder = cwd or Path(history.header.cwd)
        check_folder(folder)
        return await self._take(history, folder)

    async def _continue(self, store: Store, path: Path, cwd: Path) -> AgentSession:
        """The newest session; a new one, with a warning, where another process has it open."""
        try:
            history = await anyio.to_thread.run_sync(lambda: store.open(path, wait=RELOAD))
        except SessionLocked as error:
            session = await self._take(store.create(str(cwd)), cwd)
            session.warn(
                "locked",
                f"The newest session of this folder is open in process {error.detail.get('pid')}; "
                "a new one was begun.",
            )
            return session
        return await self._take(history, cwd)

    async def _take(self, history: History, cwd: Path) -> AgentSession:
        try:
            parts = await self.assembly.parts(history, cwd)
            session = AgentSession(parts)
            await session.begin()
        except BaseException:
            history.close()
            raise
        self._sessions[session.id] = session
        self._current[cwd] = session.id
        return session


def check_folder(cwd: Path) -> None:
    """Raise where there is no such folder."""
    if not cwd.is_dir():
        raise SingletreeError(f"The folder {cwd} does not exist.", code="workspace_not_found")
