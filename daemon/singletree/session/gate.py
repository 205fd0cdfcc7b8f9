"""Whether a call may run: asked of people where a rule does not say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, JsonValue

from singletree.agent.tool import Tool
from singletree.messages import ToolCall

Mode = Literal["ask", "acceptEdits", "readOnly", "allowAll"]
Scope = Literal["once", "session", "workspace", "user"]


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer."""

    id: str
    label: str
    kind: Literal["allow", "deny"]
    scope: Scope = "once"
    pattern: str | None = None
    expires: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """May the agent do this?"""

    tool: str
    call_id: str
    kind: Literal["command", "edit", "read", "network", "mcp", "custom"]
    title: str
    reason: str
    options: tuple[Option, ...]
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    diff: str | None = None
    default_to_no: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody said, or nobody."""

    outcome: Literal["allowed", "denied"]
    option_id: str | None = None
    edited_input: Mapping[str, JsonValue] | None = None
    feedback: str | None = None
    by: str | None = None


Ask = Callable[[Question], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Allowed:
    """It may run, with these arguments."""

    args: BaseModel


@dataclass(frozen=True, slots=True)
class Denied:
    """It may not; `reason` is text for the model."""

    reason: str


class Gate:
    """The gate of one session."""

    def __init__(self, ask: Ask, workspace: Path, agent_dir: Path, mode: Mode = "ask") -> None:
        self._ask = ask
        self.mode: Mode = mode

    async def check(self, call: ToolCall, tool: Tool, args: BaseModel) -> Allowed | Denied:
        """Allowed, or why not."""
        if tool.kind in ("read", "search") or self.mode == "allowAll":
            return Allowed(args)
        given = args.model_dump()
        question = Question(
            tool.name,
            call.id,
            "command" if tool.kind == "execute" else "edit",
            f"{tool.label}: {given.get('command') or given.get('path')}",
            "Writes and commands are asked for.",
            (Option("allow", "Allow", "allow"), Option("deny", "Deny", "deny")),
            command=given.get("command"),
        )
        answer = await self._ask(question)
        if answer.outcome == "allowed" and answer.option_id != "deny":
            return Allowed(args)
        return Denied(answer.feedback or "The user did not allow this call.")
