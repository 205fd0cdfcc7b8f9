"""An extension's code in a task of its own: whatever it does to itself ends there.

It may cancel itself, await a task that was cancelled, leave a scope open, or raise what ends whole
programs. For everybody else all of that is an error like others. Never knows what is called. Read
next: runner.py and api.py (which call).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

import anyio

from singletree.errors import ExtensionError, in_words

T = TypeVar("T")
P = ParamSpec("P")

CANCELLED = "It was cancelled from within."
TOO_SLOW = "gave no answer within {seconds:g} s"


async def apart(call: Callable[P, Awaitable[T] | T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What it gives, or an exception that can be caught; ended where the caller is cancelled."""
    given: list[T] = []
    failed: list[BaseException] = []

    async def run() -> None:
        try:
            answer = call(*args, **kwargs)
            given.append(await answer if inspect.isawaitable(answer) else answer)
        except anyio.get_cancelled_exc_class():
            raise  # by the caller's scope, or by itself: then there is neither answer nor error
        except BaseException as error:
            failed.append(error)

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(run)
    except ExceptionGroup as several:  # it has left a scope open
        raise ExtensionError(in_words(several.exceptions[0])) from several
    if given:
        return given[0]
    if not failed:
        raise ExtensionError(CANCELLED)
    if isinstance(failed[0], Exception):
        raise failed[0]
    raise ExtensionError(in_words(failed[0])) from failed[0]


async def in_time(
    limit: float | None, call: Callable[P, Awaitable[T] | T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """The same; a TimeoutError after so many seconds, None for no limit."""
    with anyio.move_on_after(limit):
        return await apart(call, *args, **kwargs)
    raise TimeoutError(TOO_SLOW.format(seconds=limit or 0))
