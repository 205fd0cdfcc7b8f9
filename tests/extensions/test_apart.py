"""Whatever an extension does to itself, what calls it goes on."""

from __future__ import annotations

from asyncio import CancelledError, current_task, ensure_future
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NoReturn

import anyio
import pytest

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ExtensionError, in_words
from singletree.extensions.apart import CANCELLED, apart
from singletree.extensions.api import ExtensionAPI, Input
from singletree.extensions.runner import Extensions, Failure, set_up
from singletree.messages import Text


class OwnError(BaseException):
    """What nobody expects."""


class WordlessError(Exception):
    """An error that cannot even be told."""

    def __str__(self) -> NoReturn:
        raise RuntimeError("no words")


async def awaits_a_cancelled_task() -> None:
    task = ensure_future(anyio.sleep(60))
    task.cancel()
    await task


async def cancels_itself() -> None:
    task = current_task()
    assert task is not None
    task.cancel()
    await anyio.sleep(60)


async def leaves_a_scope_open() -> None:
    anyio.CancelScope().__enter__()


def raising(error: BaseException) -> Callable[[], None]:
    def fall() -> None:
        raise error

    return fall


SCOPE = (
    "RuntimeError: Attempted to exit a cancel scope that isn't the current tasks's current cancel"
    " scope"
)

ODD: list[tuple[Callable[[], Awaitable[None] | None], str]] = [
    (awaits_a_cancelled_task, CANCELLED),
    (cancels_itself, CANCELLED),
    (raising(CancelledError()), CANCELLED),
    (leaves_a_scope_open, SCOPE),
    (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
    (raising(SystemExit(3)), "SystemExit: 3"),
    (raising(GeneratorExit()), "GeneratorExit"),
    (raising(OwnError("x")), "OwnError: x"),
    (raising(BaseExceptionGroup("g", [OwnError()])), "BaseExceptionGroup: g (1 sub-exception)"),
    (raising(WordlessError()), "WordlessError"),
]


@pytest.mark.parametrize(("does", "told"), ODD)
async def test_it_is_an_error_like_others(
    does: Callable[[], Awaitable[None] | None], told: str
) -> None:
    failures: list[Failure] = []

    def setup(api: ExtensionAPI) -> None:
        api.on(Input, lambda given: does())

    extensions = Extensions([await set_up("g", setup)], failures.append)
    assert (await extensions.fire(Input("a"))).payload.text == "a"
    assert failures == [Failure("g", "Input", told)]
    with pytest.raises(Exception) as error:  # its words are compared
        await set_up("g", lambda api: does())
    assert in_words(error.value) == told


async def test_who_calls_can_end_it() -> None:
    sleep: Callable[[], Awaitable[None] | None] = partial(anyio.sleep, 60)
    with anyio.move_on_after(0.05) as scope:
        await apart(sleep)
    assert scope.cancelled_caught


class NoArgs(Args):
    """Nothing."""


DEEP: list[object] = []
DEEP.append(DEEP)


@pytest.mark.parametrize(
    "given",
    [
        None,
        "text",
        ToolOutput(content=(5,)),  # type: ignore[arg-type]  # what others may do
        ToolOutput(content="abc"),  # type: ignore[arg-type]  # what others may do
        ToolOutput.text("x", details=object()),  # type: ignore[arg-type]  # what others may do
        ToolOutput.text("x", details={1: 2}),  # type: ignore[dict-item]  # what others may do
        ToolOutput.text("x", details=DEEP),  # type: ignore[arg-type]  # what others may do
        ToolOutput.text("x", details=1 << 20_000),
    ],
)
async def test_an_output_that_cannot_be_kept_is_an_error(given: object) -> None:
    async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
        return given  # type: ignore[return-value]  # what others may do

    api = ExtensionAPI("g")
    api.tool(Tool("odd", "Odd", "other", "Odd.", NoArgs, typed(NoArgs, run)))
    with pytest.raises(TypeError, match="ToolOutput"):
        await api.tools[0].run(NoArgs(), ToolRun("1", print))


async def test_an_output_is_given_as_it_is() -> None:
    whole = ToolOutput.text("x", details={"a": [1, None, 2.5]})

    async def run(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
        return whole

    async def leave(args: NoArgs, tool_run: ToolRun) -> ToolOutput:
        raise SystemExit(3)

    api = ExtensionAPI("g")
    for name, work in (("fine", run), ("leaves", leave)):
        api.tool(Tool(name, name, "other", name, NoArgs, typed(NoArgs, work)))
    fine, leaves = api.tools
    assert (await fine.run(NoArgs(), ToolRun("1", print))).content == (Text(text="x"),)
    with pytest.raises(ExtensionError, match="SystemExit: 3"):
        await leaves.run(NoArgs(), ToolRun("1", print))
