"""Sessions: open, attach, look, list, fork, name, wait, let go."""

from __future__ import annotations

from functools import partial

from anyio import to_thread

from singletree.errors import SessionBusy
from singletree.host import exports
from singletree.pathtext import at_home
from singletree.rpc.daemon import Daemon
from singletree.rpc.folders import folder_at, folder_of
from singletree.rpc.pipes.codec import Encoded
from singletree.rpc.protocol.base import Empty, SessionParams
from singletree.rpc.protocol.session import (
    Attached,
    AttachParams,
    AttachResult,
    DeleteParams,
    Entries,
    EntriesParams,
    Exported,
    ExportParams,
    Forked,
    ForkParams,
    LastTurn,
    ListParams,
    NewParams,
    OpenParams,
    RenameParams,
    SessionList,
    SessionName,
    SwitchParams,
    Waited,
    WaitParams,
)
from singletree.rpc.protocol.state import HistoryParams, SessionState
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import error_shape, newest, oldest, session_row, state

TEXT_BYTES = 131_072
"""Characters of an export that is given back as a text; even all escaped, they fit a message."""


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/session/open": Route(OpenParams, partial(_open_, daemon)),
        "agent/session/attach": Route(AttachParams, partial(_attach, daemon)),
        "agent/session/detach": Route(SessionParams, partial(_detach, daemon)),
        "agent/session/state": Route(SessionParams, partial(_get_state, daemon)),
        "agent/session/entries": Route(EntriesParams, partial(_entries, daemon)),
        "agent/session/list": Route(ListParams, partial(_list_, daemon)),
        "agent/session/new": Route(NewParams, partial(_new, daemon)),
        "agent/session/switch": Route(SwitchParams, partial(_switch, daemon)),
        "agent/session/rename": Route(RenameParams, partial(_rename, daemon)),
        "agent/session/close": Route(SessionParams, partial(_close, daemon)),
        "agent/session/delete": Route(DeleteParams, partial(_delete, daemon)),
        "agent/session/export": Route(ExportParams, partial(_export, daemon)),
        "agent/session/fork": Route(ForkParams, partial(_fork, daemon)),
        "agent/session/wait": Route(WaitParams, partial(_wait, daemon)),
    }


async def _open_(daemon: Daemon, params: OpenParams, call: Call) -> Attached:
    named = params.workspace is not None or params.cwd is not None
    folder = None
    if params.session_id is None or named:
        folder = folder_of(call.peer, params.workspace, params.cwd)
    opening = partial(daemon.host.open, folder, params.start, params.session_id)
    with call.peer.openings.begun(folder):
        session = await daemon.opened(opening)
        return daemon.snapshot(call, session, params.history)


async def _attach(daemon: Daemon, params: AttachParams, call: Call) -> AttachResult | Encoded:
    session = await daemon.session(params, call)
    return daemon.attach(call, session, params.since, params.history)


async def _detach(daemon: Daemon, params: SessionParams, call: Call) -> Empty:
    session = await daemon.session(params, call)
    daemon.detach(call.peer, session.id)
    return Empty()


async def _get_state(daemon: Daemon, params: SessionParams, call: Call) -> SessionState:
    session = await daemon.session(params, call)
    return state(session, daemon.pending_ids(session.id))


async def _entries(daemon: Daemon, params: EntriesParams, call: Call) -> Entries:
    session = await daemon.session(params, call)
    page = session.history.entries(
        since=params.since, before=params.before, limit=params.limit, branch=params.branch
    )
    forward = params.since is not None
    rows, following = oldest(session, page) if forward else newest(session, page)
    return Entries(entries=rows, leaf_id=page.leaf_id, next=following)


async def _list_(daemon: Daemon, params: ListParams, call: Call) -> SessionList:
    cwd = None if params.workspace is None else folder_at(params.workspace)
    page = await daemon.host.list(cwd, query=params.query, limit=params.limit, cursor=params.cursor)
    rows = [session_row(one, live=daemon.host.is_live(one.id)) for one in page.sessions]
    return SessionList(sessions=rows, next=page.next)


async def _new(daemon: Daemon, params: NewParams, call: Call) -> Attached:
    folder = folder_of(call.peer, params.workspace, params.cwd)
    with call.peer.openings.begun(folder):
        if params.recover is None:
            session = await daemon.host.open(folder, "new")
        else:
            session = await daemon.host.recover(at_home(params.recover), folder)
        if params.name:
            session.rename(params.name)
        return daemon.snapshot(call, session, HistoryParams())


async def _switch(daemon: Daemon, params: SwitchParams, call: Call) -> Attached:
    path = None if params.path is None else at_home(params.path)
    with call.peer.openings.begun(None):
        session = await daemon.opened(partial(daemon.host.switch, params.session_id, path))
        return daemon.snapshot(call, session, params.history)


async def _rename(daemon: Daemon, params: RenameParams, call: Call) -> SessionName:
    session = await daemon.session(params, call)
    name = session.rename(params.name)
    daemon.sessions_changed("renamed", session.id)
    return SessionName(name=name)


async def _close(daemon: Daemon, params: SessionParams, call: Call) -> Empty:
    await daemon.close(await daemon.session(params, call))
    return Empty()


async def _delete(daemon: Daemon, params: DeleteParams, call: Call) -> Empty:
    if daemon.host.is_live(params.session_id):
        raise SessionBusy("The session is open; close it before you delete it.")
    await daemon.host.delete(params.session_id)
    daemon.sessions_changed("deleted", params.session_id)
    return Empty()


async def _export(daemon: Daemon, params: ExportParams, call: Call) -> Exported:
    session_id = params.session_id or (await daemon.session(params, call)).id
    async with daemon.host.look(session_id) as history:
        if params.path is None:
            text = await to_thread.run_sync(exports.text, history, params.format, TEXT_BYTES)
            return Exported(text=text)
        save = partial(exports.save, history, params.format, params.path, replace=params.replace)
        return Exported(path=str(await to_thread.run_sync(save)))


async def _fork(daemon: Daemon, params: ForkParams, call: Call) -> Forked:
    session = await daemon.session(params, call)
    cwd = None if params.workspace is None else folder_at(params.workspace)
    made, text = await daemon.host.fork(session, params.entry_id, params.position, cwd)
    if params.name:
        made.rename(params.name)
    daemon.subscribe(call, made)
    path = made.state().path
    return Forked(session_id=made.id, editor_text=text, path=None if path is None else str(path))


async def _wait(daemon: Daemon, params: WaitParams, call: Call) -> Waited:
    session = await daemon.session(params, call)
    last = await session.turns.wait(params.until)
    told = None
    if last is not None:
        error = None if last.error is None else error_shape(last.error)
        told = LastTurn(turn_id=last.turn_id, reason=last.reason, error=error)
    return Waited(phase=session.state().phase, last_turn=told)
