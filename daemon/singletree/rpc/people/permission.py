"""Asking for permission: by `agent/permission/request` where it is declared, else by LSP's dialog.

Nobody to ask, or a dismissed dialog, is a no. Never decides what is asked. Read next: questions.py,
../../session/permission/gate.py.
"""

from __future__ import annotations

from functools import partial

from singletree.excerpt import cut
from singletree.messages import ToolCall
from singletree.rpc.faults import parse_as
from singletree.rpc.peer import Peer
from singletree.rpc.people.questions import Status, Way, client_id
from singletree.rpc.plain.window import Kind, ask
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.permission import (
    PermissionAnswer,
    PermissionOption,
    PermissionParams,
    PermissionSubject,
)
from singletree.session.events import ToolPending
from singletree.session.permission.gate import Answer, Option, Question

METHOD = "agent/permission/request"
NOBODY = "There is nobody to ask."
IN = "in {folder}"
MORE = "(and {count} more changed lines)"

PATHS, LINES, WIDE, LONGEST = 5, 12, 100, 600


def way_of(question: Question) -> Way[Answer]:
    """How this question is put to a client."""
    return Way(
        METHOD,
        _declares,
        partial(_by_request, question),
        partial(_by_dialog, question),
        Answer("denied", feedback=NOBODY, by="policy"),
        _status,
    )


def pending(question: Question, request_id: str) -> ToolPending:
    """The call that waits for it."""
    arguments = dict(question.input or {})
    call = ToolCall(id=question.call_id, name=question.tool, arguments=arguments)
    return ToolPending(call, request_id)


def params_of(session_id: str, question: Question, request_id: str) -> JsonObject:
    """The question as it travels."""
    return PermissionParams(
        session_id=session_id,
        request_id=request_id,
        tool_call_id=question.call_id,
        title=question.title,
        subject=PermissionSubject(
            type=question.kind,
            command=question.command,
            cwd=question.cwd,
            paths=list(question.paths),
            diff=question.diff,
        ),
        reason=question.reason,
        options=[
            PermissionOption(
                id=option.id,
                label=option.label,
                kind=option.kind,
                scope=option.scope,
                pattern=option.pattern,
                expires=option.expires,
            )
            for option in question.options
        ],
        default_to_no=question.default_to_no,
        editable_input=None if question.input is None else dict(question.input),
    ).dump()


def _declares(peer: Peer) -> bool:
    return "permissions" in peer.client.agent


def _status(answer: Answer) -> Status:
    return answer.outcome


async def _by_request(question: Question, peer: Peer, params: JsonObject) -> Answer | None:
    """The answer; None where the client did not understand that it was asked."""
    raw = await peer.call(METHOD, params, object)
    if raw is None:
        return None
    given = parse_as(PermissionAnswer, raw)
    kinds = {option.id: option.kind for option in question.options}
    if given.outcome == "cancelled" or given.option_id is None:
        return Answer("denied", feedback=given.feedback, by=client_id(peer))
    if given.option_id not in kinds:
        return None
    return Answer(
        "allowed" if kinds[given.option_id] == "allow" else "denied",
        option_id=given.option_id,
        edited_input=given.edited_input,
        feedback=given.feedback,
        by=client_id(peer),
    )


async def _by_dialog(question: Question, peer: Peer) -> Answer:
    options = _titled(question)
    kind: Kind = "warning" if question.default_to_no else "info"
    chosen = options.get(await ask(peer, message_of(question), options, kind) or "")
    return Answer(
        "allowed" if chosen is not None and chosen.kind == "allow" else "denied",
        option_id=chosen.id if chosen else None,
        by=client_id(peer),
    )


def _titled(question: Question) -> dict[str, Option]:
    """The answers by what is shown. Hosts take the first by default: be it a no where that fits."""
    options = list(question.options)
    if question.default_to_no:
        options.sort(key=lambda option: option.kind != "deny")
    titled: dict[str, Option] = {}
    for option in options:
        title = option.label
        while title in titled:
            title += " "
        titled[title] = option
    return titled


def message_of(question: Question) -> str:
    """Everything a person must know to answer, in a few lines."""
    lines = [question.title, question.reason]
    if question.command is not None and question.command not in question.title:
        lines.append(f"$ {cut(question.command, LONGEST)}")
    if question.cwd is not None:
        lines.append(IN.format(folder=question.cwd))
    lines += [path for path in question.paths[:PATHS] if path not in question.title]
    if question.diff is not None:
        lines.append(_short_diff(question.diff))
    return "\n".join(line for line in lines if line)


def _short_diff(diff: str) -> str:
    """The changed lines alone, as many as fit a dialog."""
    changed = [
        line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    shown = [cut(line, WIDE) for line in changed[:LINES]]
    more = len(changed) - len(shown)
    return "\n".join([*shown, *([MORE.format(count=more)] if more else [])])
