"""A small server on our door, for its tests. start.py starts it as a process."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from singletree.errors import SessionBusy
from singletree.rpc.connection import Door
from singletree.rpc.faults import RpcError
from singletree.rpc.lsp.lazylsp import open_language
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.errors import REQUEST_FAILED
from singletree.rpc.routes import Call, Route
from singletree.rpc.telling.feed import Feed

if TYPE_CHECKING:
    from singletree.rpc.lsp.language import AgentServer


class Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Block(Shape):
    type: Literal["text"]
    text: str


class PromptParams(Shape):
    session_id: str
    content: list[Block] = Field(min_length=1)


class PromptResult(Shape):
    turn_id: str


class Nothing(Shape):
    pass


class Seconds(Shape):
    s: float = 30


class Count(Shape):
    n: int


class Permission(Shape):
    outcome: Literal["allow", "deny"]


async def prompt(params: PromptParams, call: Call) -> PromptResult:
    call.after_reply(lambda: call.peer.notify("example/started", {"turnId": "t1"}))
    return PromptResult(turn_id="t1")


def busy(params: Nothing, call: Call) -> object:
    raise SessionBusy("A turn runs")


async def sleep(params: Seconds, call: Call) -> object:
    call.peer.notify("example/ran", {"id": call.id})
    await anyio.sleep(params.s)
    return {"slept": params.s}


async def clean_up(params: Nothing, call: Call) -> object:
    """Cancelled, it ends what it does before it is answered."""
    try:
        await anyio.sleep(30)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.02)
            call.peer.notify("example/cleaned", {})
    return None


async def shielded(params: Nothing, call: Call) -> object:
    """What it has begun to write it writes to the end."""
    with anyio.CancelScope(shield=True):
        for _ in range(5):
            await anyio.sleep(0.01)
        await anyio.to_thread.run_sync(time.sleep, 0.05)
        call.peer.notify("example/written", {})
    return {"written": True}


async def stubborn(params: Nothing, call: Call) -> object:
    """Cancelled, it answers all the same."""
    try:
        await anyio.sleep(30)
    except asyncio.CancelledError:
        return {"stopReason": "cancelled"}
    return None


async def hang(params: Nothing, call: Call) -> object:
    """Will not end, whatever happens."""
    while True:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            call.peer.notify("example/no", {})


async def group(params: Nothing, call: Call) -> object:
    """Fails inside a task group, as most of our code does."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep, 30)
        raise SessionBusy("A turn runs")
    return None


async def boom(params: Nothing, call: Call) -> object:
    return 1 / len(os.environ.get("NO_SUCH_NAME", ""))


def leave(params: Nothing, call: Call) -> object:
    sys.exit(7)


async def leave_async(params: Nothing, call: Call) -> object:
    sys.exit(7)


def unspeakable(params: Nothing, call: Call) -> object:
    return {"x": object()}


async def ask(params: Nothing, call: Call) -> object:
    answer = await call.peer.call("example/permission", {"tool": "bash"}, Permission)
    return {"got": answer.outcome}


async def edit(params: Nothing, call: Call) -> object:
    """A typed LSP request to the client, through pygls."""
    from lsprotocol import types as lsp

    from singletree.rpc.lsp.language import AgentServer

    server = await call.peer.language()
    assert isinstance(server, AgentServer)
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri="file:///w/a.py", version=3)
    change = lsp.TextEdit(lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1)), "x")
    edits = lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, [change])])
    result = await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit=edits))
    return {"applied": result.applied}


def stray(params: Nothing, call: Call) -> object:
    """Everything that can put bytes on stdout."""
    print("x")
    sys.__stdout__.write("x") if sys.__stdout__ else None
    os.write(1, b"y")
    subprocess.run(["echo", "z"], check=True)
    taken = subprocess.run(["cat"], capture_output=True, check=True).stdout
    warnings.warn("w", stacklevel=1)
    logging.StreamHandler(sys.stdout).handle(logging.makeLogRecord({"msg": "l", "levelno": 40}))
    os.close(1)
    return {"child read": len(taken)}


def length(params: Any, call: Call) -> object:
    return len(params["text"])


def big(params: Count, call: Call) -> object:
    return "x" * params.n


def echo(params: Any, call: Call) -> object:
    return params


BUFFER = {"text": "old"}


def capture(params: Nothing, peer: Peer) -> str:
    return BUFFER["text"]


async def snapshot(params: Nothing, call: Call) -> object:
    await anyio.sleep(0.02)
    return {"captured": call.captured, "now": BUFFER["text"]}


def change(params: dict[str, str], call: Call) -> None:
    BUFFER.update(params)


async def chatter(params: Count, call: Call) -> object:
    """Write to the log more than a pipe holds."""
    for n in range(params.n):
        logging.getLogger("example").warning("%d %s", n, "x" * 1000)
    return None


async def failing_note(params: Nothing, call: Call) -> object:
    raise ValueError("nobody waits for this")


FEED: list[Feed] = []


def listen(params: Nothing, call: Call) -> object:
    """Hear the events and deltas of this process's one feed."""
    if not FEED:
        FEED.append(Feed("s"))
    attached = FEED[0].attach(call.peer.outbox, call.peer.client.delivery)
    call.after_reply(attached.subscription.release)
    return {"seq": attached.cursor.seq}


async def stream(params: Count, call: Call) -> object:
    """As a model does: pieces, and at the end the whole."""
    for chunk in range(params.n):
        FEED[0].emit_delta("i", "text", 0, chunk, f"piece {chunk}, ")
        if chunk % 20 == 0:
            await asyncio.sleep(0)
    FEED[0].emit_event({"type": "item_ended", "itemId": "i"})
    return None


def memory(params: Nothing, call: Call) -> object:
    """Resident kilobytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


ROUTES: dict[str, Route[Any]] = {
    "agent/prompt": Route(PromptParams, prompt),
    "example/busy": Route(Nothing, busy),
    "example/sleep": Route(Seconds, sleep),
    "example/cleanUp": Route(Nothing, clean_up),
    "example/shielded": Route(Nothing, shielded),
    "example/stubborn": Route(Nothing, stubborn),
    "example/hang": Route(Nothing, hang),
    "example/group": Route(Nothing, group),
    "example/boom": Route(Nothing, boom),
    "example/leave": Route(Nothing, leave),
    "example/leaveAsync": Route(Nothing, leave_async),
    "example/unspeakable": Route(Nothing, unspeakable),
    "example/ask": Route(Nothing, ask),
    "example/edit": Route(Nothing, edit),
    "example/stray": Route(Nothing, stray),
    "example/length": Route(None, length),
    "example/big": Route(Count, big),
    "example/listen": Route(Nothing, listen),
    "example/stream": Route(Count, stream),
    "example/memory": Route(Nothing, memory),
    "example/chatter": Route(Count, chatter),
    "example/echo": Route(None, echo),
    "example/snapshot": Route(Nothing, snapshot, capture),
    "example/change": Route(None, change),
    "example/failingNote": Route(Nothing, failing_note),
}


def to_error(error: BaseException) -> tuple[int, str, object] | None:
    if isinstance(error, SessionBusy):
        return REQUEST_FAILED, error.message, {"code": error.code, "retryable": True}
    return None


def register(server: AgentServer) -> None:
    from lsprotocol import types as lsp

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover:
        await asyncio.sleep(0)
        return lsp.Hover(contents=f"{params.text_document.uri}:{params.position.line}")

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> None:
        raise RpcError(REQUEST_FAILED, "no", {"code": "unsupported"})

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        await asyncio.sleep(30)
        return []


async def end(peer: Peer) -> None:
    await asyncio.sleep(float(os.environ.get("EXAMPLE_SHUTDOWN", "0")))


@asynccontextmanager
async def open_door() -> AsyncIterator[Door]:
    yield Door(ROUTES, to_error=to_error, language=open_language(register), shutdown=end)
    print("door closed", file=sys.stderr)
