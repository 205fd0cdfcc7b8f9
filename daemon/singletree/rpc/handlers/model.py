"""Models, thinking levels, and what they took."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial
from typing import TypeVar

from singletree.errors import SingletreeError
from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.protocol.model import (
    CycleParams,
    ModelList,
    ModelListParams,
    ModelResult,
    ModelSetParams,
    ThinkingList,
    ThinkingResult,
    ThinkingSetParams,
)
from singletree.rpc.protocol.usage import ModelUsage, UsageResult
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import context_usage, model_row, usable, usage
from singletree.session.session import AgentSession

T = TypeVar("T")


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/model/list": Route(ModelListParams, partial(_models, daemon)),
        "agent/model/set": Route(ModelSetParams, partial(_set_model, daemon)),
        "agent/model/cycle": Route(CycleParams, partial(_cycle_model, daemon)),
        "agent/thinking/list": Route(SessionParams, partial(_levels, daemon)),
        "agent/thinking/set": Route(ThinkingSetParams, partial(_set_level, daemon)),
        "agent/thinking/cycle": Route(CycleParams, partial(_cycle_level, daemon)),
        "agent/usage/get": Route(SessionParams, partial(_used, daemon)),
    }


async def _models(daemon: Daemon, params: ModelListParams, call: Call) -> ModelList:
    session = await daemon.session_or_none(params, call)
    models = await daemon.host.models()
    rows = usable(models) if params.usable else [model_row(one) for one in models]
    return ModelList(models=rows, current=session.choice.ref if session else None)


async def _set_model(daemon: Daemon, params: ModelSetParams, call: Call) -> ModelResult:
    session = await daemon.session(params, call)
    await session.choice.set_model(params.model)
    return _model(session)


async def _cycle_model(daemon: Daemon, params: CycleParams, call: Call) -> ModelResult:
    session = await daemon.session(params, call)
    found = [row.model for row in usable(await daemon.host.models())]
    refs = enabled(found, session.layers.settings.enabled_models or ())
    if not refs:
        raise SingletreeError("No model can be used.", code="no_model")
    await session.choice.set_model(_next(refs, session.choice.ref, params.direction))
    return _model(session)


def enabled(refs: Sequence[str], patterns: Sequence[str]) -> Sequence[str]:
    """The models to cycle through: those that a pattern names, or all where none does."""
    found = [
        ref
        for ref in refs
        if any(fnmatch(name, pattern) for pattern in patterns for name in (ref, _bare(ref)))
    ]
    return found or refs


def _bare(ref: str) -> str:
    return ref.partition("/")[2]


async def _levels(daemon: Daemon, params: SessionParams, call: Call) -> ThinkingList:
    session = await daemon.session(params, call)
    return ThinkingList(
        levels=list(session.choice.model().info.levels), current=session.choice.thinking
    )


async def _set_level(daemon: Daemon, params: ThinkingSetParams, call: Call) -> ThinkingResult:
    session = await daemon.session(params, call)
    session.choice.set_thinking(params.level)
    return ThinkingResult(
        thinking=session.choice.thinking, note=session.choice.why_another(params.level)
    )


async def _cycle_level(daemon: Daemon, params: CycleParams, call: Call) -> ThinkingResult:
    session = await daemon.session(params, call)
    session.choice.set_thinking(
        _next(session.choice.model().info.levels, session.choice.thinking, params.direction)
    )
    return ThinkingResult(thinking=session.choice.thinking)


async def _used(daemon: Daemon, params: SessionParams, call: Call) -> UsageResult:
    session = await daemon.session(params, call)
    total = await daemon.host.usage(session)
    return UsageResult(
        context_usage=context_usage(session.context_use()),
        total=usage(total.total),
        models=[
            ModelUsage(model=ref, answers=one.answers, usage=usage(one.usage))
            for ref, one in total.models.items()
        ],
    )


def _model(session: AgentSession) -> ModelResult:
    return ModelResult(model=session.choice.model().info.ref, thinking=session.choice.thinking)


def _next(choices: Sequence[T], now: T | None, direction: str) -> T:
    at = choices.index(now) if now in choices else -1
    return choices[(at + (1 if direction == "next" else -1)) % len(choices)]
