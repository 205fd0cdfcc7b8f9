"""Saying something: prompt, steer, follow up, abort; a command run by hand."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from singletree.messages import Image, Text
from singletree.rpc.content import blocks, with_context
from singletree.rpc.daemon import Daemon
from singletree.rpc.peer import Peer
from singletree.rpc.people import dialogs
from singletree.rpc.protocol.turn import (
    AbortParams,
    AbortResult,
    BashParams,
    BashResult,
    FollowUpResult,
    PromptParams,
    PromptResult,
    SayParams,
    SteerParams,
    SteerResult,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import queue_items
from singletree.session.model_choice import Override


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/prompt": Route(PromptParams, partial(_prompt, daemon), _said_in_prompt),
        "agent/steer": Route(SteerParams, partial(_steer, daemon), _said),
        "agent/followUp": Route(SayParams, partial(_follow_up, daemon), _said),
        "agent/abort": Route(AbortParams, partial(_abort, daemon)),
        "agent/bash": Route(BashParams, partial(_bash, daemon)),
    }


def _said(params: SayParams, peer: Peer) -> list[Text | Image]:
    """The message as it is at the moment it arrives."""
    return blocks(params.content, peer.documents)


def _said_in_prompt(params: PromptParams, peer: Peer) -> list[Text | Image]:
    return with_context(_said(params, peer), params.context, peer.documents)


async def _prompt(daemon: Daemon, params: PromptParams, call: Call) -> PromptResult:
    session = await daemon.session(params, call)
    overrides = params.overrides
    done = await session.turns.prompt(
        call.captured,
        when_busy=params.when_busy,
        client_message_id=params.client_message_id,
        override=Override(overrides.model, overrides.thinking) if overrides else None,
    )
    return PromptResult(
        disposition="queued" if done.disposition == "injected" else done.disposition,
        turn_id=done.turn_id,
        queue_id=done.queue_id,
        message_id=done.message_id,
        note=done.note,
    )


async def _steer(daemon: Daemon, params: SteerParams, call: Call) -> SteerResult:
    session = await daemon.session(params, call)
    done = await session.turns.steer(
        call.captured,
        client_message_id=params.client_message_id,
        expected_turn_id=params.expected_turn_id,
        when_idle=params.when_idle,
    )
    return SteerResult(
        disposition=done.disposition,
        turn_id=done.turn_id,
        queue_id=done.queue_id,
        message_id=done.message_id,
        note=done.note,
    )


async def _follow_up(daemon: Daemon, params: SayParams, call: Call) -> FollowUpResult:
    session = await daemon.session(params, call)
    done = await session.turns.follow_up(call.captured, client_message_id=params.client_message_id)
    return FollowUpResult(
        disposition="queued" if done.disposition == "injected" else done.disposition,
        queue_id=done.queue_id,
        position=done.position,
        turn_id=done.turn_id,
        message_id=done.message_id,
        note=done.note,
    )


async def _abort(daemon: Daemon, params: AbortParams, call: Call) -> AbortResult:
    session = await daemon.session(params, call)
    if params.scope == "turn":
        daemon.questions.dismiss(session.id, dialogs.METHOD, dialogs.DISMISSED)
    done = await session.turns.abort(
        params.scope,
        turn_id=params.turn_id,
        tool_call_id=params.tool_call_id,
        queue=params.queue,
    )
    return AbortResult(
        aborted=done.aborted,
        forced=done.forced,
        queue=queue_items(done.queue) if params.queue == "return" else None,
    )


async def _bash(daemon: Daemon, params: BashParams, call: Call) -> BashResult:
    session = await daemon.session(params, call)
    ran = await session.user_bash.run(
        params.command, cwd=params.cwd, exclude_from_context=params.exclude_from_context
    )
    message = ran.message
    path = message.full_output_path
    return BashResult(
        entry_id=ran.entry_id,
        output=message.output,
        exit_code=message.exit_code,
        truncated=message.truncated,
        cancelled=message.cancelled,
        full_output_uri=None if path is None else Path(path).as_uri(),
    )
