"""The calls of one answer: checked one after the other, run together, answered exactly once each.

Never knows who asks for permission or what a tool touches; errors of a tool become its result.
Read next: tool.py (what a tool is), loop.py (who hands the calls over).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio
from anyio.lowlevel import checkpoint_if_cancelled
from pydantic import BaseModel

from singletree.agent.config import AfterTool, BeforeTool, Blocked, Changed
from singletree.agent.events import AgentEvent, ToolEnded, ToolStarted, ToolUpdated
from singletree.agent.tool import Tool, ToolOutput, ToolRun, parse_args, values_of
from singletree.errors import SingletreeError, ToolError, in_words
from singletree.messages import AssistantMessage, Text, ToolCall, ToolResultMessage

NOT_RUN = "Not run: the turn was stopped before this call began."
INTERRUPTED = "Interrupted: the turn was stopped while this call ran. What it had done stays done."
INTERRUPTED_AFTER = (
    "[Interrupted: the turn was stopped while this call ran. Above is its output until then; "
    "what it had done stays done.]"
)
STOPPED = "Not run: the user stopped this call before it began."
STOPPED_WHILE = "Stopped: the user ended this call while it ran. What it had done stays done."
STOPPED_AFTER = (
    "[Stopped: the user ended this call while it ran. Above is its output until then; what it had "
    "done stays done.]"
)
CUT = (
    "Not run: your message reached the output limit, so the arguments of its calls may be cut "
    "short. Send the call again with less in one message, for example a long text in several "
    "smaller edits."
)
UNKNOWN = 'There is no tool "{name}". You can call: {names}.'
BROKEN = "The tool failed: {error}"
GUARD_FAILED = "Not run: the check before this call failed ({error})."
REVIEW_FAILED = "The call ran, but its output was withheld: the check after it failed ({error})."

PARTIAL_LIMIT = 50 * 1024
"""Characters of a running call's output that are kept for the case that it is interrupted."""


Status = Literal["completed", "failed", "cancelled", "rejected"]


@dataclass(slots=True)
class _Slot:
    """One call, as it is to run, and what came of it."""

    call: ToolCall
    tool: Tool | None
    args: BaseModel | None = None
    note: str = ""
    started: float | None = None
    output: ToolOutput | None = None
    status: Status | None = None
    tail: deque[str] = field(default_factory=deque)
    kept: int = 0

    def keep(self, text: str) -> None:
        """Note streamed output, the newest PARTIAL_LIMIT characters of it."""
        self.tail.append(text)
        self.kept += len(text)
        while self.kept - len(self.tail[0]) > PARTIAL_LIMIT:
            self.kept -= len(self.tail.popleft())

    def ended_early(self, alone: str, behind: str) -> ToolOutput:
        """What it said until now and why there is no more."""
        partial = "".join(self.tail)[-PARTIAL_LIMIT:].rstrip()
        return ToolOutput.text(f"{partial}\n\n{behind}" if partial else alone, is_error=True)


class Batch:
    """The calls of one answer: `run`, then `results`; `close` if `run` did not come to its end."""

    def __init__(
        self,
        message: AssistantMessage,
        tools: Sequence[Tool],
        before_tool: BeforeTool,
        after_tool: AfterTool,
        emit: Callable[[AgentEvent], None],
        scopes: MutableMapping[str, anyio.CancelScope],
    ) -> None:
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._slots = [_Slot(call, self._tools.get(call.name)) for call in message.tool_calls]
        self._cut = message.stop_reason == "length"
        self._before_tool = before_tool
        self._after_tool = after_tool
        self._emit = emit
        self._scopes = scopes

    async def run(self) -> None:
        """Answer every call. A sequential tool makes all of them run one after the other."""
        if self._cut:
            for slot in self._slots:
                self._finish(slot, ToolOutput.text(CUT, is_error=True), "failed")
            return
        if any(slot.tool is not None and slot.tool.sequential for slot in self._slots):
            for slot in self._slots:
                await self._prepare(slot)
                if slot.status is None:
                    await self._execute(slot)
            return
        for slot in self._slots:
            await self._prepare(slot)
        await self._execute_together([slot for slot in self._slots if slot.status is None])

    def close(self) -> None:
        """Answer what is still open: it ran and was interrupted, or it never began."""
        for slot in self._slots:
            if slot.status is None and slot.started is not None:
                told = slot.output or slot.ended_early(INTERRUPTED, INTERRUPTED_AFTER)
                self._finish(slot, told, "cancelled")
            elif slot.status is None:
                self._finish(slot, ToolOutput.text(NOT_RUN, is_error=True), "cancelled")

    def results(self) -> list[ToolResultMessage]:
        """One message per call, in source order."""
        return [
            ToolResultMessage(
                tool_call_id=slot.call.id,
                tool_name=slot.call.name,
                content=list(slot.output.content),
                details=slot.output.details,
                is_error=slot.output.is_error,
            )
            for slot in self._slots
            if slot.output is not None
        ]

    async def _prepare(self, slot: _Slot) -> None:
        await checkpoint_if_cancelled()
        if slot.tool is None:
            names = ", ".join(self._tools) or "(no tools)"
            text = UNKNOWN.format(name=slot.call.name, names=names)
            return self._finish(slot, ToolOutput.text(text, is_error=True), "failed")
        try:
            args = parse_args(slot.tool, slot.call)
        except ToolError as error:
            return self._finish(slot, ToolOutput.text(error.message, is_error=True), "failed")
        with self._by_itself(slot):
            return await self._check(slot, slot.tool, args)
        return self._finish(slot, ToolOutput.text(STOPPED, is_error=True), "cancelled")

    async def _check(self, slot: _Slot, tool: Tool, args: BaseModel) -> None:
        try:
            answer = await self._before_tool(slot.call, tool, args)
        except Exception as error:
            answer = Blocked(GUARD_FAILED.format(error=in_words(error)))
        if isinstance(answer, Blocked):
            return self._finish(slot, ToolOutput.text(answer.reason, is_error=True), "rejected")
        slot.args = args
        if isinstance(answer, Changed):
            slot.args, slot.note = answer.args, answer.note
            slot.call = slot.call.model_copy(update={"arguments": values_of(answer.args)})
        return None

    @contextmanager
    def _by_itself(self, slot: _Slot) -> Iterator[None]:
        """As long as this lasts the call can be stopped without the others."""
        with anyio.CancelScope() as scope:
            self._scopes[slot.call.id] = scope
            try:
                yield
            finally:
                self._scopes.pop(slot.call.id, None)

    async def _execute_together(self, slots: Sequence[_Slot]) -> None:
        if len(slots) == 1:
            return await self._execute(slots[0])
        try:
            async with anyio.create_task_group() as group:
                for slot in slots:
                    group.start_soon(self._execute, slot)
        except BaseExceptionGroup as several:
            raise _first(several) from several
        return None

    async def _execute(self, slot: _Slot) -> None:
        await checkpoint_if_cancelled()
        slot.started = time.monotonic()
        self._emit(ToolStarted(slot.call))
        try:
            with self._by_itself(slot):
                return await self._work(slot)
        except anyio.get_cancelled_exc_class():
            told = slot.output or slot.ended_early(INTERRUPTED, INTERRUPTED_AFTER)
            self._finish(slot, told, "cancelled")
            raise
        told = slot.output or slot.ended_early(STOPPED_WHILE, STOPPED_AFTER)
        return self._finish(slot, told, "cancelled")

    async def _work(self, slot: _Slot) -> None:
        tool, args = slot.tool, slot.args
        assert tool is not None
        assert args is not None
        try:
            slot.output = await tool.run(args, ToolRun(slot.call.id, self._updater(slot)))
        except Exception as error:
            slot.output = _failure(error)
        if not _cancelled():
            slot.output = await self._reviewed(slot, tool, args, slot.output)
        failed: Status = "cancelled" if _cancelled() else "failed"
        self._finish(slot, slot.output, failed if slot.output.is_error else "completed")

    async def _reviewed(
        self, slot: _Slot, tool: Tool, args: BaseModel, output: ToolOutput
    ) -> ToolOutput:
        try:
            changed = await self._after_tool(slot.call, tool, args, output)
        except Exception as error:
            return ToolOutput.text(REVIEW_FAILED.format(error=in_words(error)), is_error=True)
        return output if changed is None else changed

    def _updater(self, slot: _Slot) -> Callable[[str], None]:
        def update(text: str) -> None:
            if text and slot.status is None:
                slot.keep(text)
                self._emit(ToolUpdated(slot.call.id, text))

        return update

    def _finish(self, slot: _Slot, output: ToolOutput, status: Status) -> None:
        if not output.content:
            output = replace(output, content=(Text(text=""),))
        if slot.note and slot.started is not None:
            output = replace(output, content=(Text(text=slot.note), *output.content))
        slot.output, slot.status = output, status
        self._scopes.pop(slot.call.id, None)
        took = 0 if slot.started is None else round((time.monotonic() - slot.started) * 1000)
        self._emit(ToolEnded(slot.call, output, status, took))


def _cancelled() -> bool:
    """Whether the scope we stand in is cancelled, even if a tool swallowed the news."""
    return anyio.current_effective_deadline() == -math.inf


def _failure(error: BaseException) -> ToolOutput:
    inner = _first(error) if isinstance(error, BaseExceptionGroup) else error
    if isinstance(inner, ToolError):
        return ToolOutput.text(inner.message, details=inner.details, is_error=True)
    if isinstance(inner, SingletreeError):
        return ToolOutput.text(inner.message, is_error=True)
    return ToolOutput.text(BROKEN.format(error=in_words(inner)), is_error=True)


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group that is not just an echo of a cancellation."""
    flat: list[BaseException] = []
    stack: list[BaseException] = [several]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(reversed(error.exceptions))
        else:
            flat.append(error)
    cancelled = anyio.get_cancelled_exc_class()
    return next((e for e in flat if not isinstance(e, cancelled)), flat[0])
