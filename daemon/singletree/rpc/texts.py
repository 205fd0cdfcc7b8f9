"""What stands behind an address: texts of a session, open or not.

Read in worker threads. Texts for editors are bounded; what was cut in a message is whole. Never
knows who asks. Read next: addresses.py, ../export/documents.py, handlers/content.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, assert_never

from anyio import to_thread
from pydantic_core import to_json

from singletree.agent.tool import ToolOutput
from singletree.errors import SingletreeError, UnknownEntry
from singletree.export import documents
from singletree.history.entries import Entry, dump
from singletree.history.reading import Reading
from singletree.messages import ToolCall, text_of
from singletree.rpc.addresses import Address, parse
from singletree.rpc.daemon import Daemon
from singletree.session.edits.patch import turn_patch
from singletree.session.session import AgentSession
from singletree.session.tree.tool_calls import call_in, output_in

NOTHING: Final = "Nothing stands behind {uri}."


async def text_at(daemon: Daemon, uri: str) -> str:
    """The text. Raises `not_found`, or `session_not_found`."""
    address = parse(uri)
    found = None if address is None else await _find(daemon, address)
    if found is None:
        raise SingletreeError(NOTHING.format(uri=uri), code="not_found")
    return found


async def _find(daemon: Daemon, address: Address) -> str | None:
    match address.kind:
        case "transcript":
            return await _read(daemon, address, documents.transcript)
        case "tree":
            return await _read(daemon, address, documents.tree)
        case "entryText":
            return await _read(daemon, address, partial(_entry, address.id, documents.one))
        case "entry":
            return await _read(daemon, address, partial(_entry, address.id, _record))
        case "tool":
            output = await _output(daemon, address)
            return None if output is None else text_of(output.content)
        case "toolInput":
            call = await _call(daemon, address)
            return None if call is None else to_json(call.arguments).decode()
        case "toolDiff":
            output = await _output(daemon, address)
            details = {} if output is None else output.details
            diff = details.get("diff") if isinstance(details, dict) else None
            return diff if isinstance(diff, str) else None
        case "diff":
            return await _patch(daemon, address)
        case "queue":
            return _waiting(daemon.host.get(address.session_id), address.id)
    assert_never(address.kind)


async def _read(
    daemon: Daemon, address: Address, make: Callable[[Reading], str | None]
) -> str | None:
    async with daemon.host.look(address.session_id) as history:
        return await to_thread.run_sync(make, history)


async def _output(daemon: Daemon, address: Address) -> ToolOutput | None:
    """An answer, also one that is no entry yet."""
    if daemon.host.is_live(address.session_id):
        return await daemon.host.get(address.session_id).output(address.id)
    async with daemon.host.look(address.session_id) as history:
        return await to_thread.run_sync(output_in, history, address.id)


async def _call(daemon: Daemon, address: Address) -> ToolCall | None:
    if daemon.host.is_live(address.session_id):
        return await daemon.host.get(address.session_id).call(address.id)
    async with daemon.host.look(address.session_id) as history:
        return await to_thread.run_sync(call_in, history, address.id)


async def _patch(daemon: Daemon, address: Address) -> str | None:
    session = daemon.host.get(address.session_id)
    files, ledger = session.gate.world.files, daemon.ledger(session.id)
    edits = await daemon.edits(session)
    return await turn_patch(edits, address.id, ledger, files, session.cwd)


def _entry(entry_id: str, told: Callable[[Entry, Reading], str], history: Reading) -> str | None:
    try:
        return told(history.entry(entry_id), history)
    except UnknownEntry:
        return None


def _record(entry: Entry, history: Reading) -> str:
    return dump(entry).decode()


def _waiting(session: AgentSession, queue_id: str) -> str | None:
    for item in session.queue.items:
        if item.queue_id == queue_id:
            return to_json([dict(block) for block in item.content]).decode()
    return None
