"""Dialogs with a person: by `agent/ui/request` where the kind is declared.

For other clients a select or a confirm goes through LSP's own dialog; the rest is cancelled at
once. Never decides what is asked. Read next: questions.py, ../../extensions/dialog.py.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from singletree.extensions.dialog import Dialog, Reply
from singletree.rpc.faults import parse_as
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer
from singletree.rpc.people.questions import Status, Way, client_id
from singletree.rpc.plain.window import ask
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.ui import UiAnswer, UiOption, UiRequestParams

METHOD: Final = "agent/ui/request"
YES, NO = "Yes", "No"
DISMISSED: Final = Reply(cancelled=True, by="abort")


def way_of(dialog: Dialog) -> Way[Reply]:
    """How this dialog is put before a client's person."""
    simple = dialog.kind in ("select", "confirm")
    return Way(
        METHOD,
        partial(_declares, dialog),
        partial(_by_request, dialog),
        partial(_by_dialog, dialog) if simple else None,
        Reply(cancelled=True, by="policy"),
        _status,
        Reply(cancelled=True, by="timeout"),
        dialog.timeout,
    )


def params_of(session_id: str, dialog: Dialog, request_id: str) -> JsonObject:
    """The dialog as it travels."""
    return UiRequestParams(
        session_id=session_id,
        request_id=request_id,
        kind=dialog.kind,
        title=dialog.title,
        message=dialog.message,
        options=[
            UiOption(value=one.value, label=one.label, description=one.description)
            for one in dialog.options
        ]
        or None,
        json_schema=None if dialog.schema is None else dict(dialog.schema),
        prefill=dialog.prefill,
        timeout_ms=None if dialog.timeout is None else round(dialog.timeout * 1000),
    ).dump()


def _declares(dialog: Dialog, peer: Peer) -> bool:
    kinds = part(peer.client.agent, "ui").get("dialogs")
    return isinstance(kinds, list) and dialog.kind in kinds


def _status(reply: Reply) -> Status:
    return "cancelled" if reply.cancelled else "answered"


async def _by_request(dialog: Dialog, peer: Peer, params: JsonObject) -> Reply | None:
    """The reply; None where the client did not understand, or answered something else."""
    raw = await peer.call(METHOD, params, object)
    if raw is None:
        return None
    given = parse_as(UiAnswer, raw)
    if given.cancelled:
        return Reply(cancelled=True, by=client_id(peer))
    return Reply(given.value, by=client_id(peer)) if dialog.takes(given.value) else None


async def _by_dialog(dialog: Dialog, peer: Peer) -> Reply:
    """LSP's dialog; a closed one is a cancelled one."""
    values: dict[str, str | bool] = {YES: True, NO: False}
    if dialog.kind == "select":
        values = {}
        for number, option in enumerate(dialog.options, 1):  # two may be called the same
            twice = option.label in values
            values[f"{option.label} ({number})" if twice else option.label] = option.value
    text = f"{dialog.title}\n{dialog.message or ''}".strip()
    label = await ask(peer, text, values)
    if label in values:
        return Reply(values[label], by=client_id(peer))
    return Reply(cancelled=True, by=client_id(peer))
