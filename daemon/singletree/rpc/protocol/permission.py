"""Permissions: the question to the client, and the rules that were remembered.

No answer is a no. Read next: ../../session/permission/gate.py (when one is asked).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import (
    JsonObject,
    Method,
    Params,
    Result,
    SessionParams,
    Shape,
)

PermissionScope = Literal["once", "session", "workspace", "user"]


class PermissionOption(Shape):
    """One possible answer. `pattern` is what it would cover from then on; `expires` is ISO 8601."""

    id: str
    label: str
    kind: Literal["allow", "deny"]
    scope: PermissionScope
    pattern: str | None = None
    expires: str | None = None


class PermissionSubject(Shape):
    """What is to be done. `diff` is unified text of an edit."""

    type: Literal["command", "edit", "read", "custom"]
    command: str | None = None
    cwd: str | None = None
    paths: list[str] = Field(default_factory=list)
    diff: str | None = None


class PermissionParams(Params):
    """The question. `reason`: why it is asked (which rule). `defaultToNo`: preselect a no.

    `editableInput`: the arguments, if they may be changed in the answer.
    """

    session_id: str
    request_id: str
    tool_call_id: str | None = None
    title: str
    subject: PermissionSubject
    reason: str
    options: list[PermissionOption]
    default_to_no: bool = False
    editable_input: JsonObject | None = None


class PermissionAnswer(Result):
    """`selected` with an option's id, or `cancelled`, which is a no.

    `editedInput`: arguments to run instead; rules that forbid and keys hold for them too, and the
    model is told what ran. `feedback` is told to the model.
    """

    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None
    edited_input: JsonObject | None = None
    feedback: str | None = None


class ResolvedParams(Params):
    """A question has its answer from elsewhere: take it off the screen.

    `by`: a client's id, or `abort`, `timeout`, `policy`.
    """

    session_id: str
    request_id: str
    by: str


class Rule(Shape):
    """A remembered answer."""

    id: str
    tool: str
    pattern: str | None
    decision: Literal["allow", "deny"]
    scope: PermissionScope
    created: str | None = None
    uses: int = 0


class RuleList(Result):
    """All rules in force, and the mode."""

    rules: list[Rule]
    mode: str


class RuleRemoveParams(SessionParams):
    """Rules to forget, by id: all of them, or none if one is unknown."""

    ids: list[str]


class ModeParams(SessionParams):
    """`ask` before writes and commands, allow edits, allow all, or deny all that would be asked."""

    mode: Literal["ask", "acceptEdits", "readOnly", "allowAll"]


METHODS = (
    Method(
        "agent/permission/list",
        SessionParams,
        RuleList,
        "The remembered answers, and the mode.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/permission/remove",
        RuleRemoveParams,
        RuleList,
        "Forget answers.",
        errors=("session_not_found", "not_found"),
    ),
    Method(
        "agent/permission/setMode",
        ModeParams,
        RuleList,
        "What is asked at all, as long as the session lives. The same as the switch `mode` of "
        "`agent/config/set`, which can also keep it in the settings.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/permission/request",
        PermissionParams,
        PermissionAnswer,
        "May the agent do this? All clients of the session that declared `permissions` are asked; "
        "the first answer counts.",
        direction="serverToClient",
    ),
    Method(
        "agent/request/resolved",
        ResolvedParams,
        None,
        "A question that this client was asked has its answer from elsewhere.",
        direction="serverToClient",
    ),
)
