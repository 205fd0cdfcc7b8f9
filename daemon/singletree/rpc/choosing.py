"""Where a command came without its argument: what is found in the session, or a person chooses.

LSP has one dialog: a question with a few answers. It is enough to choose a model, a session or a
place in the tree; it is no place to write a text. Closing it changes nothing. Read next:
handlers/commands.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from anyio import to_thread
from pydantic import JsonValue

from singletree.errors import SingletreeError
from singletree.excerpt import cut
from singletree.history.outline import Row
from singletree.history.reading import Reading
from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.daemon import Daemon
from singletree.rpc.faults import parse_as
from singletree.rpc.modes import MODES
from singletree.rpc.plain.window import ask
from singletree.rpc.protocol.base import JsonObject, SessionParams
from singletree.rpc.routes import Call
from singletree.rpc.telling.views import iso, usable
from singletree.session.session import AgentSession

SHOWN: Final = 10
LONGEST: Final = 70
QUESTIONS: Final = {
    "model": "Who shall answer?",
    "level": "How hard shall the model think?",
    "mode": "What shall be asked before it is done?",
    "sessionId": "Which session?",
    "entryId": "From where?",
    "ids": "Which answer shall be forgotten?",
}
TRUSTED: Final = "What this folder brings along counts. Shall it go on so?"
BRINGS: Final = "This folder brings along: {what}. Shall that count? Then its code runs as yours."
TRUST: Final = {"No, leave it aside": False, "Yes, I trust this folder": True}
CANNOT: Final = "{command} needs {field}: give it as its first argument."
RULE: Final = "{decision} {tool}: {pattern}, {where}"
WHERE: Final = {"session": "in this session", "workspace": "here", "user": "in every workspace"}
NO_RULES: Final = "No answer is remembered here."
NO_EDITS: Final = "The agent has changed no file in this session, or all of it was taken back."
FILE: Final = "session-{session}.{format}"
Choices = Mapping[str, JsonValue]
"""What is shown -> what it stands for."""


async def choose(
    daemon: Daemon, call: Call, command: str, field: str, given: JsonObject
) -> JsonValue:
    """The value for the field; None where the person wants none. Raises where none can be asked."""
    session = await daemon.session(parse_as(SessionParams, given), call)
    match command:
        case "agent.undoTurn":
            return await last_turn(daemon, session)
        case "agent.export":
            return FILE.format(session=session.id, format=given.get("format"))
        case "agent.label" if (leaf := session.history.leaf) is not None:
            return leaf
    choices = await _choices(daemon, session, field)
    if not choices:
        raise SingletreeError(CANNOT.format(command=command, field=field), code="not_found")
    try:
        return choices.get(await ask(call.peer, _question(session, field), choices) or "")
    except (ClientError, ClientGone):
        text = CANNOT.format(command=command, field=field)
        raise SingletreeError(text, code="unsupported") from None


def _question(session: AgentSession, field: str) -> str:
    if field != "trusted":
        return QUESTIONS[field]
    what = ", ".join(path for _, path in session.state().skipped)
    return BRINGS.format(what=what) if what else TRUSTED


async def _choices(daemon: Daemon, session: AgentSession, field: str) -> Choices:
    match field:
        case "model":
            rows = usable(await daemon.host.models())
            rows.sort(key=lambda row: row.provider != (session.choice.ref or "").partition("/")[0])
            return {row.model: row.model for row in rows[:SHOWN]}
        case "level":
            return {level: level for level in session.choice.levels()}
        case "trusted":
            return TRUST
        case "mode":
            return {f"{name}: {text}": mode for mode, (name, text) in MODES.items()}
        case "sessionId":
            return await _sessions(daemon, session)
        case "ids":
            return await _rules(session)
        case _:
            return await to_thread.run_sync(_places, session.history)


async def _sessions(daemon: Daemon, session: AgentSession) -> Choices:
    page = await daemon.host.list(session.cwd, query=None, limit=SHOWN, cursor=None)
    found = [one for one in page.sessions if one.id != session.id]
    named = [(f"{one.name or one.preview} ({iso(one.updated_at)[:16]})", one.id) for one in found]
    return _numbered(named)


async def _rules(session: AgentSession) -> Choices:
    """The newest answers that are remembered."""
    rules = sorted(await session.gate.in_force(), key=lambda rule: rule.created, reverse=True)
    if not rules:
        raise SingletreeError(NO_RULES, code="not_found")
    named: list[tuple[str, JsonValue]] = []
    for one in rules[:SHOWN]:
        where, decision = WHERE[one.scope], one.decision.capitalize()
        line = RULE.format(decision=decision, tool=one.tool, pattern=one.pattern, where=where)
        named.append((line, [one.id]))
    return _numbered(named)


def _places(history: Reading) -> Choices:
    """What the person said last, on this branch and beside it."""
    rows: Sequence[Row] = history.rows("userOnly", limit=1_000_000).rows
    return _numbered([(row.preview, row.entry_id) for row in reversed(rows[-SHOWN:])])


def _numbered(found: Sequence[tuple[str, JsonValue]]) -> Choices:
    """Numbers keep equal titles apart."""
    return {f"{at}. {cut(title, LONGEST)}": value for at, (title, value) in enumerate(found, 1)}


async def last_turn(daemon: Daemon, session: AgentSession) -> str:
    """The last turn whose edits were not taken back."""
    landed = [e.turn_id for e in await daemon.edits(session) if e.status == "landed"]
    if not landed:
        raise SingletreeError(NO_EDITS, code="not_found")
    return landed[-1]
