"""What a run is given: the conversation as data, and the callbacks through which it asks outside.

Every callback has a plain default, so that an agent that is no coding agent needs only a model.
Never knows who answers. Read next: loop.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio
from pydantic import BaseModel

from singletree.agent.tool import Tool, ToolOutput
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    Message,
    ThinkingLevel,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.base import Model

MAX_STEPS = 500

Waiting = tuple[str | None, AgentMessage]
"""A message on its way into the conversation, and the id of its entry if it already has one."""
Onward = Literal["go_on", "stop"]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A guard's no: `reason` is text for the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A guard's yes to other arguments. `note`: text for the model, before the output."""

    args: BaseModel
    note: str = ""


@dataclass(frozen=True, slots=True)
class LoopContext:
    """What the conversation is when a run begins."""

    system: str
    messages: Sequence[AgentMessage]
    tools: Sequence[Tool] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """What the next model call is made from; `index` counts from 0 in this run."""

    index: int
    model: Model
    thinking: ThinkingLevel
    system: str
    messages: tuple[AgentMessage, ...]
    tools: tuple[Tool, ...]


BeforeTool = Callable[[ToolCall, Tool, BaseModel], Awaitable[Blocked | Changed | None]]
AfterTool = Callable[[ToolCall, Tool, BaseModel, ToolOutput], Awaitable[ToolOutput | None]]


def plain_messages(messages: Sequence[AgentMessage]) -> Sequence[Message]:
    """The messages every model knows, without failed and aborted answers."""
    return [
        m
        for m in messages
        if isinstance(m, UserMessage | ToolResultMessage)
        or (isinstance(m, AssistantMessage) and not m.failed)
    ]


def mint() -> str:
    """A new id: 8 hex digits, as entries have them."""
    return secrets.token_hex(4)


async def _as_it_is(messages: Sequence[AgentMessage]) -> Sequence[AgentMessage]:
    return messages


async def _allow(call: ToolCall, tool: Tool, args: BaseModel) -> None:
    return None


async def _keep(call: ToolCall, tool: Tool, args: BaseModel, output: ToolOutput) -> None:
    return None


def _nothing() -> Sequence[Waiting]:
    return ()


async def _same(step: Step) -> None:
    return None


async def _go_on(message: AssistantMessage, results: Sequence[ToolResultMessage]) -> Onward:
    return "go_on"


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """How the loop asks outside.

    mint: the id of the entry to be of a message that has none yet. transform_context, then
    to_llm: from the conversation to what this request sends. before_tool: a `Blocked`, a
    `Changed`, or None; an exception blocks. after_tool: another output or None; an exception
    withholds it. take_steering, take_follow_up: remove and give what waits. before_step: may give
    another Step (model, thinking, system, messages, tools); a compaction between steps happens
    here. finish_step: after a good step. max_steps: how many steps may follow one another without
    a word from the user. session_id: passed on in every request. calls: the calls that are checked
    or run, by id; cancelling one ends that call alone and the run goes on.
    """

    model: Model
    thinking: ThinkingLevel = "off"
    mint: Callable[[], str] = mint
    to_llm: Callable[[Sequence[AgentMessage]], Sequence[Message]] = plain_messages
    transform_context: Callable[[Sequence[AgentMessage]], Awaitable[Sequence[AgentMessage]]] = (
        _as_it_is
    )
    before_tool: BeforeTool = _allow
    after_tool: AfterTool = _keep
    take_steering: Callable[[], Sequence[Waiting]] = _nothing
    take_follow_up: Callable[[], Sequence[Waiting]] = _nothing
    before_step: Callable[[Step], Awaitable[Step | None]] = _same
    finish_step: Callable[[AssistantMessage, Sequence[ToolResultMessage]], Awaitable[Onward]] = (
        _go_on
    )
    max_steps: int = MAX_STEPS
    session_id: str = ""
    calls: MutableMapping[str, anyio.CancelScope] = field(default_factory=dict)
