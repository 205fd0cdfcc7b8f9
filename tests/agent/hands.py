"""Small real tools for tests of the loop: they say, wait, fail, and tell what they did."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import anyio
import anyio.lowlevel
from pydantic import BaseModel, Field

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.messages import AssistantMessage, Text
from singletree.model.base import Hear, ModelInfo, ModelRequest


class Canned:
    """A model that gives finished messages without streaming."""

    def __init__(self, answers: Sequence[AssistantMessage]) -> None:
        self.info = ModelInfo("canned", "m")
        self._answers = list(answers)

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        """The next message."""
        return self._answers.pop(0)


def spoken(text: str) -> AssistantMessage:
    """An answer of one text."""
    return AssistantMessage(content=[Text(text=text)])


class SayArgs(Args):
    """Arguments of say."""

    text: str = Field(description="what to say")
    after: float = Field(0, description="seconds to wait first")


class NoArgs(Args):
    """Nothing."""


@dataclass
class Hands:
    """Tools that share a diary of what happened, in order."""

    diary: list[str] = field(default_factory=list)

    def say(self, name: str = "say", *, sequential: bool = False) -> Tool:
        """Says its text, after a while."""

        async def run(args: SayArgs, tool_run: ToolRun) -> ToolOutput:
            self.diary.append(f"{args.text} begins")
            await anyio.sleep(args.after)
            self.diary.append(f"{args.text} ends")
            return ToolOutput.text(args.text)

        return _tool(name, SayArgs, typed(SayArgs, run), sequential=sequential)

    def stream(self, *, catches: bool = False) -> Tool:
        """Tells two lines and then waits to be stopped; may answer the stop itself."""

        async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
            tool_run.update("one\n")
            tool_run.update("two\n")
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                if catches:
                    return ToolOutput.text("one\ntwo\n[killed]", is_error=True)
                raise
            return ToolOutput.text("never")

        return _tool("stream", NoArgs, typed(NoArgs, run))

    def counts(self) -> Tool:
        """Tells numbers for ever."""

        async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
            for number in itertools.count():
                tool_run.update(f"{number}\n")
                if number % 100 == 99:
                    await anyio.lowlevel.checkpoint()
            return ToolOutput.text("never")

        return _tool("count", NoArgs, typed(NoArgs, run))

    def fails(self, error: Callable[[], BaseException], name: str = "fails") -> Tool:
        """Raises."""

        async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
            raise error()

        return _tool(name, NoArgs, typed(NoArgs, run))

    def does(self, name: str, act: Callable[[], None]) -> Tool:
        """Calls back, so that a test can do something while a tool runs."""

        async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
            act()
            return ToolOutput.text("done")

        return _tool(name, NoArgs, typed(NoArgs, run))

    def refuses(self, text: str) -> Tool:
        """Raises what the model should hear."""
        return replace(self.fails(lambda: ToolError(text)), name="refuses")


def _tool(
    name: str,
    args: type[Args],
    run: Callable[[BaseModel, ToolRun], Awaitable[ToolOutput]],
    *,
    sequential: bool = False,
) -> Tool:
    return Tool(
        name=name,
        label=name,
        kind="other",
        description=f"{name} something",
        args=args,
        run=run,
        sequential=sequential,
    )
