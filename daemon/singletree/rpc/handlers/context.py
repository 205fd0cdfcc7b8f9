"""What the model would see, and by which rules the rest is left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio.to_thread

from singletree.context.left_out import Part
from singletree.rpc.addresses import Address
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.context import (
    ContextBudget,
    ContextInclude,
    ContextParams,
    ContextPart,
    ContextResult,
    LeftOut,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.bounds import bounded, page
from singletree.rpc.telling.views import PAGE_BYTES
from singletree.session.session import AgentSession
from singletree.session.tree.xray import Sight, earlier

IN_A_FILE = "the file it comes from"


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {"agent/context/get": Route(ContextParams, partial(_get, daemon))}


async def _get(daemon: Daemon, params: ContextParams, call: Call) -> ContextResult:
    session = await daemon.session(params, call)
    seen = await session.sight(params.entry_id)
    start = int(params.cursor or 0)
    return await anyio.to_thread.run_sync(
        _page, session, seen, start, params.limit, tuple(params.include)
    )


def _page(
    session: AgentSession, seen: Sight, start: int, limit: int, include: Sequence[ContextInclude]
) -> ContextResult:
    """A page of all parts: seen ones, left out ones, those compacted away long ago."""
    told = (*seen.xray.parts, *seen.xray.left_out)
    parts = list(told[start : start + limit])
    ids = seen.earlier[max(0, start - len(told)) :][: limit - len(parts)]
    rows = [_part(part, session.id, include) for part in parts]
    fit = list(page(rows, PAGE_BYTES))
    done = start + len(fit)
    if len(fit) == len(rows):
        fit += [_part(part, session.id, ()) for part in earlier(session.history, ids)]
        done += len(ids)
    model = seen.xray.model
    return ContextResult(
        entry_id=seen.leaf_id,
        tree_version=session.history.tree_version,
        model="/".join(model) if model else None,
        thinking=seen.xray.thinking,
        tokens=seen.xray.tokens,
        measured=seen.measured,
        budget=_budget(seen),
        seen=len(seen.xray.parts),
        left_out=[LeftOut(rule=rule, count=n) for rule, n in sorted(seen.rules.items())],
        parts=[ContextPart.model_validate(row) for row in fit],
        next=str(done) if done < len(told) + len(seen.earlier) else None,
    )


def _part(part: Part, session_id: str, include: Sequence[ContextInclude]) -> JsonObject:
    made = ContextPart(
        kind=part.kind,
        tokens=part.tokens,
        entry_id=part.entry_id,
        preview=part.preview,
        left_out=part.left_out,
        message=part.sent.dump() if part.sent and "messages" in include else None,
        text=part.text if part.text and "texts" in include else None,
    ).dump()
    whole = str(Address(session_id, "entry", part.entry_id)) if part.entry_id else IN_A_FILE
    shown, _ = bounded(made, whole, PAGE_BYTES)
    assert isinstance(shown, dict)
    return shown


def _budget(seen: Sight) -> ContextBudget | None:
    if seen.limits is None:
        return None
    return ContextBudget(
        window=seen.window,
        reserve=seen.limits.reserve,
        compacts_above=seen.window - seen.limits.reserve,
        automatic=seen.limits.enabled,
    )
