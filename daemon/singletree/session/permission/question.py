"""A question of permission and its answer, as values that every face can show.

Never knows how it is shown. Read next: gate.py (when it is asked).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, JsonValue

from singletree.agent.config import Blocked

__all__ = ["Allowed", "Answer", "Ask", "Blocked", "Option", "Question", "Scope", "Subject"]

Scope = Literal["once", "session", "workspace", "user"]
Subject = Literal["command", "edit", "read", "custom"]


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer. `pattern` is what it covers from then on; None for this once alone.

    `expires`: when it ends by itself, as text for people.
    """

    id: str
    label: str
    kind: Literal["allow", "deny"]
    scope: Scope
    pattern: str | None = None
    expires: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """May this call run? `reason` says why it is asked.

    `paths` are real ones, `diff` is unified text of an edit, `input` the arguments, which the
    answer may change.
    """

    tool: str
    call_id: str
    kind: Subject
    title: str
    reason: str
    options: tuple[Option, ...]
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    diff: str | None = None
    input: Mapping[str, JsonValue] | None = None
    default_to_no: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """`option_id` None means this once. `by`: a client, "abort", "timeout" or "policy".

    `edited_input` are arguments to run instead; `feedback` is told to the model.
    """

    outcome: Literal["allowed", "denied"]
    option_id: str | None = None
    edited_input: Mapping[str, JsonValue] | None = None
    feedback: str | None = None
    by: str | None = None


Ask = Callable[[Question], Awaitable[Answer]]
"""Asks whoever can be asked. An error, or nobody to ask, is a no."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call may run with these arguments; a `sandboxed` command only inside the sandbox.

    `note`: what the model should know of it.
    """

    args: BaseModel
    sandboxed: bool = False
    note: str = ""
