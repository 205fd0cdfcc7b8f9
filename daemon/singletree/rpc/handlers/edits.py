"""What the agent changed in files, and taking it back."""

from __future__ import annotations

from functools import partial

from singletree.errors import SessionBusy
from singletree.rpc.buffers.documents import path_of
from singletree.rpc.daemon import Daemon
from singletree.rpc.faults import invalid_params
from singletree.rpc.protocol import edits as shapes
from singletree.rpc.routes import Call, Route, Routes
from singletree.session.edits.edit import Edit
from singletree.session.edits.revert import chosen, revert

BUSY = "A turn is running: edits can be taken back when it has ended."
WHICH = "say what to take back: a turnId, a uri or editIds"


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/edits/list": Route(shapes.EditsParams, partial(_list_, daemon)),
        "agent/edits/revert": Route(shapes.RevertParams, partial(_revert, daemon)),
    }


async def _list_(daemon: Daemon, params: shapes.EditsParams, call: Call) -> shapes.EditList:
    session = await daemon.session(params, call)
    names = _names(params.uri)
    return shapes.EditList(
        edits=[
            _edit(edit)
            for edit in await daemon.edits(session)
            if params.turn_id in (None, edit.turn_id)
            and (names is None or edit.uri in names or edit.path in names)
        ]
    )


async def _revert(daemon: Daemon, params: shapes.RevertParams, call: Call) -> shapes.Reverted:
    session = await daemon.session(params, call)
    if params.turn_id is None and params.uri is None and params.edit_ids is None:
        raise invalid_params([{"pointer": "", "message": WHICH}])
    await session.turns.let_end()
    if session.turns.busy:
        raise SessionBusy(BUSY)
    wanted = chosen(
        await daemon.edits(session),
        turn_id=params.turn_id,
        file=_names(params.uri),
        ids=params.edit_ids,
    )
    done, refused = await revert(daemon.ledger(session.id), session.gate.world, wanted)
    return shapes.Reverted(
        reverted=[edit.id for edit in done],
        refused=[
            shapes.Refused(edit_id=one.edit.id, code=one.code, message=one.message)
            for one in refused
        ],
    )


def _names(uri: str | None) -> set[str] | None:
    """A file by its address and by its path."""
    return None if uri is None else {uri, path_of(uri) or uri}


def _edit(edit: Edit) -> shapes.Edit:
    return shapes.Edit(
        edit_id=edit.id,
        turn_id=edit.turn_id,
        tool_call_id=edit.call_id,
        uri=edit.uri,
        before=edit.before,
        after=edit.after,
        by=edit.by,
        created=edit.created,
        undone=edit.status == "undone",
        timestamp=edit.timestamp,
    )
