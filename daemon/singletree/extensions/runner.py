"""Extensions: the guests of one session. Chains their handlers, and keeps their failures apart.

A failing guest is told to `report` and never ends a run; only where a payload says that it shuts
does a failure count as a no. A cancelled run cancels the handler it waits for. Never knows where
guests come from. Read next: api.py (the contract).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import anyio.to_thread

from singletree.agent.tool import Tool
from singletree.extensions.api import (
    Actions,
    Answer,
    Block,
    Cancel,
    Command,
    Context,
    ExtensionAPI,
    Handled,
    Handler,
    P,
    Payload,
    SessionShutdown,
    Verdict,
)

GUARD_FAILED = "Not run: the extension {name}, which checks such calls, failed ({error})."
WRONG_ANSWER = "answered {kind} with {answer}, which it does not take"
DUPLICATE_TOOL = "the tool {tool} is already offered by {other}; this one is left out"

MANY = 200
"""Messages from which a context is copied in a worker thread."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with a guest, and in which payload (or "load")."""

    extension: str
    event: str
    message: str


@dataclass(frozen=True, slots=True)
class Fired(Generic[P]):
    """What all guests together made of a payload, and the verdict if there was one."""

    payload: P
    verdict: Verdict | None = None


Setup = Callable[[ExtensionAPI], Awaitable[None] | None]


def _ignore(failure: Failure) -> None:
    return None


class Extensions:
    """The guests of one session, in the order of loading."""

    def __init__(
        self, guests: Sequence[ExtensionAPI] = (), report: Callable[[Failure], None] = _ignore
    ) -> None:
        self._guests = list(guests)
        self._report = report

    @property
    def names(self) -> list[str]:
        """The guests."""
        return [guest.name for guest in self._guests]

    @property
    def tools(self) -> list[Tool]:
        """What guests offer to the model. The first one of a name counts."""
        return list(self._first_tools().values())

    @property
    def commands(self) -> dict[str, Command]:
        """What guests offer to people; a name that comes again gets ":2", ":3", …"""
        found: dict[str, Command] = {}
        for command in (c for guest in self._guests for c in guest.commands):
            name, number = command.name, 1
            while name in found:
                number += 1
                name = f"{command.name}:{number}"
            found[name] = command
        return found

    def hears(self, kind: type[Payload]) -> bool:
        """Whether anybody wants to hear of this; so that nothing is made for nobody."""
        return any(k is kind for guest in self._guests for k, _ in guest.handlers)

    def open(self, actions: Actions) -> None:
        """From now on guests may act on this session. Tells of tools that are left out."""
        for guest in self._guests:
            guest.actions = actions
        first = self._first_tools()
        owner = {id(t): guest.name for guest in self._guests for t in guest.tools}
        for guest in self._guests:
            for tool in guest.tools:
                if first[tool.name] is not tool:
                    text = DUPLICATE_TOOL.format(tool=tool.name, other=owner[id(first[tool.name])])
                    self._report(Failure(guest.name, "load", text))

    async def close(self, farewell: SessionShutdown) -> None:
        """Tell the guests that it is over; after that, whatever they try fails."""
        await self.fire(farewell)
        for guest in self._guests:
            guest.actions = None
            guest.handlers.clear()
            guest.drop()

    async def fire(self, payload: P) -> Fired[P]:
        """Let each handler have its say, in order."""
        verdict: Verdict | None = None
        for guest, handler in self._handlers(type(payload)):
            try:
                answer = await self._ask(handler, payload)
            except (Exception, SystemExit) as error:
                told = f"{type(error).__name__}: {error}".rstrip(": ")
                self._report(Failure(guest.name, type(payload).__name__, told))
                if payload.shuts:
                    text = GUARD_FAILED.format(name=guest.name, error=told)
                    return Fired(payload, Block(text))
                continue
            if isinstance(answer, type(payload)):
                payload = answer
            elif isinstance(answer, Block | Cancel | Handled):
                return Fired(payload, answer)
            elif answer is not None:
                assert not isinstance(answer, Payload)
                verdict = answer
        return Fired(payload, verdict)

    async def _ask(self, handler: Handler[Payload], payload: Payload) -> Answer:
        answer = handler(await _own_copy(payload))
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is None or isinstance(answer, payload.verdicts):
            return answer
        if payload.changes and type(answer) is type(payload):
            return answer
        kind, given = type(payload).__name__, type(answer).__name__
        raise TypeError(WRONG_ANSWER.format(kind=kind, answer=given))

    def _handlers(self, kind: type[Payload]) -> list[tuple[ExtensionAPI, Handler[Payload]]]:
        return [(g, h) for g in self._guests for k, h in g.handlers if k is kind]

    def _first_tools(self) -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for tool in (t for guest in self._guests for t in guest.tools):
            found.setdefault(tool.name, tool)
        return found


async def set_up(name: str, setup: Setup, drop: Callable[[], None] = lambda: None) -> ExtensionAPI:
    """A guest made by its setup function; `drop` frees what was loaded for it."""
    api = ExtensionAPI(name, drop=drop)
    try:
        done = setup(api)
        if inspect.isawaitable(done):
            await done
    except BaseException:
        drop()
        raise
    return api


async def _own_copy(payload: Payload) -> Payload:
    if isinstance(payload, Context) and len(payload.messages) > MANY:
        return await anyio.to_thread.run_sync(copy.deepcopy, payload)
    return copy.deepcopy(payload)
