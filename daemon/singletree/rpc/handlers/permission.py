"""Remembered answers: look at them, take them back, choose what is asked at all."""

from __future__ import annotations

from functools import partial

from singletree.errors import SingletreeError
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.protocol.permission import ModeParams, Rule, RuleList, RuleRemoveParams
from singletree.rpc.routes import Call, Route, Routes
from singletree.session.session import AgentSession


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/permission/list": Route(SessionParams, partial(_listed, daemon)),
        "agent/permission/remove": Route(RuleRemoveParams, partial(_remove, daemon)),
        "agent/permission/setMode": Route(ModeParams, partial(_set_mode, daemon)),
    }


async def _listed(daemon: Daemon, params: SessionParams, call: Call) -> RuleList:
    return await _rules(await daemon.session(params, call))


async def _remove(daemon: Daemon, params: RuleRemoveParams, call: Call) -> RuleList:
    session = await daemon.session(params, call)
    known = {rule.id for rule in await session.gate.in_force()}
    unknown = [one for one in params.ids if one not in known]
    if unknown:
        raise SingletreeError(f"There is no rule {unknown[0]}.", code="not_found")
    await session.gate.forget(params.ids)
    return await _rules(session)


async def _set_mode(daemon: Daemon, params: ModeParams, call: Call) -> RuleList:
    session = await daemon.session(params, call)
    session.set_mode(params.mode)
    return await _rules(session)


async def _rules(session: AgentSession) -> RuleList:
    rules = [
        Rule(
            id=rule.id,
            tool=rule.tool,
            pattern=rule.pattern,
            decision=rule.decision,
            scope=rule.scope,
            created=rule.created or None,
            uses=rule.uses,
        )
        for rule in await session.gate.in_force()
    ]
    return RuleList(rules=rules, mode=session.gate.mode)
