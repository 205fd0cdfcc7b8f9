"""The extensions of one session: chains their handlers, and keeps their failures apart.

A failing extension is told to `report` and never ends a run; only where a payload says that it
shuts does a failure count as a no. A handler that takes too long has failed. A cancelled run
cancels the handler it waits for. Never knows where extensions come from. Read next: api.py (the
contract).
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from typing import Generic

import anyio.to_thread
from pydantic import TypeAdapter, ValidationError

from singletree.agent.tool import Tool
from singletree.errors import in_words
from singletree.extensions.apart import apart, in_time
from singletree.extensions.api import (
    Actions,
    AgentEnd,
    Answer,
    BeforeCompact,
    BeforeTree,
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
from singletree.extensions.descriptors import mend

GUARD_FAILED = "Not run: the extension {name}, which checks such calls, failed ({error})."
WRONG_ANSWER = "answered {kind} with {answer}, which it does not take"
WRONG_VALUE = "{kind}.{where}: {why}"
DUPLICATE_TOOL = "the tool {tool} is already offered by {other}; this one is left out"

MANY = 200
"""Messages from which a payload is copied in a worker thread."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with an extension, and in which payload (or "load")."""

    extension: str
    event: str
    message: str


@dataclass(frozen=True, slots=True)
class Fired(Generic[P]):
    """What all extensions together made of a payload, and the verdict if there was one."""

    payload: P
    verdict: Verdict | None = None


Setup = Callable[[ExtensionAPI], Awaitable[None] | None]


def _ignore(failure: Failure) -> None:
    return None


class Extensions:
    """The extensions of one session, in the order of loading.

    `limit`: seconds that one handler may take, asked each time anew; None for no limit. (Plain
    functions stand in the loop and can't be ended: what may take long is to be async.)
    """

    def __init__(
        self,
        extensions: Sequence[ExtensionAPI] = (),
        report: Callable[[Failure], None] = _ignore,
        limit: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._extensions = list(extensions)
        self._report = report
        self._limit = limit
        self._actions: Actions | None = None

    @property
    def present(self) -> bool:
        """Whether there is any."""
        return bool(self._extensions)

    @property
    def tools(self) -> list[Tool]:
        """What extensions offer to the model. The first one of a name counts."""
        return list(self._first_tools().values())

    @property
    def commands(self) -> dict[str, Command]:
        """What extensions offer to people; a name that comes again gets ":2", ":3", …"""
        found: dict[str, Command] = {}
        for command in (c for extension in self._extensions for c in extension.commands):
            name, number = command.name, 1
            while name in found:
                number += 1
                name = f"{command.name}:{number}"
            found[name] = command
        return found

    def hears(self, kind: type[Payload]) -> bool:
        """Whether anybody wants to hear of this; so that nothing is made for nobody."""
        return any(k is kind for extension in self._extensions for k, _ in extension.handlers)

    def open(self, actions: Actions) -> None:
        """From now on extensions may act on this session. Tells of tools that are left out."""
        self._actions = actions
        self._introduce(self._extensions)

    def admit(self, extensions: Sequence[ExtensionAPI]) -> None:
        """More of them, behind those that are there; they may act, too."""
        self._extensions = [*self._extensions, *extensions]
        self._introduce(extensions)

    def _introduce(self, extensions: Sequence[ExtensionAPI]) -> None:
        first = self._first_tools()
        owner = {id(t): extension.name for extension in self._extensions for t in extension.tools}
        for extension in extensions:
            extension.actions = self._actions
            for tool in extension.tools:
                if first[tool.name] is not tool:
                    text = DUPLICATE_TOOL.format(tool=tool.name, other=owner[id(first[tool.name])])
                    self._report(Failure(extension.name, "load", text))

    async def close(self, farewell: SessionShutdown) -> None:
        """Tell the extensions that it is over; after that, whatever they try fails."""
        await self.dismiss(self._extensions, farewell)

    async def dismiss(self, extensions: Sequence[ExtensionAPI], farewell: SessionShutdown) -> None:
        """Let some of them go."""
        try:
            await self.fire(farewell, extensions)
        finally:
            self._extensions = [one for one in self._extensions if one not in extensions]
            for extension in extensions:
                extension.actions = None
                extension.handlers.clear()
                extension.drop()

    async def fire(self, payload: P, to: Sequence[ExtensionAPI] | None = None) -> Fired[P]:
        """Let each handler have its say, in order; `to`: only those of some extensions."""
        verdict: Verdict | None = None
        for extension, handler in self._handlers(type(payload), to):
            try:
                answer = await self._ask(handler, payload)
            except Exception as error:
                told = in_words(error)
                self._report(Failure(extension.name, type(payload).__name__, told))
                if payload.shuts:
                    text = GUARD_FAILED.format(name=extension.name, error=told)
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
        given = await _own_copy(payload)
        try:
            answer = await in_time(self._limit(), handler, given)
        finally:
            mend()
        if answer is None:
            return None
        if isinstance(answer, payload.verdicts):
            return _checked(answer)
        if payload.changes and type(answer) is type(payload):
            return _checked(answer)
        names = type(payload).__name__, type(answer).__name__
        raise TypeError(WRONG_ANSWER.format(kind=names[0], answer=names[1]))

    def _handlers(
        self, kind: type[Payload], to: Sequence[ExtensionAPI] | None
    ) -> list[tuple[ExtensionAPI, Handler[Payload]]]:
        extensions = self._extensions if to is None else to
        return [(g, h) for g in extensions for k, h in g.handlers if k is kind]

    def _first_tools(self) -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for tool in (t for extension in self._extensions for t in extension.tools):
            found.setdefault(tool.name, tool)
        return found


async def set_up(name: str, setup: Setup, drop: Callable[[], None] = lambda: None) -> ExtensionAPI:
    """An extension made by its setup function; `drop` frees what was loaded for it."""
    api = ExtensionAPI(name, drop=drop)
    try:
        await apart(setup, api)
    except BaseException:
        drop()
        raise
    return api


def _checked(answer: Payload | Verdict) -> Payload | Verdict:
    """The answer, its values of the types they are said to be; TypeError where one is not."""
    kind = type(answer)
    if kind not in _SHAPES:
        _SHAPES[kind] = TypeAdapter(kind)
    given = {field.name: getattr(answer, field.name) for field in fields(answer)}
    try:
        return _SHAPES[kind].validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TypeError(
            WRONG_VALUE.format(kind=kind.__name__, where=where, why=first["msg"])
        ) from None


_SHAPES: dict[type[Payload | Verdict], TypeAdapter[Payload | Verdict]] = {}


async def _own_copy(payload: Payload) -> Payload:
    match payload:
        case Context() | AgentEnd() | BeforeCompact():
            many = len(payload.messages) > MANY
        case BeforeTree():
            many = len(payload.left_behind) > MANY
        case _:
            many = False
    if many:
        return await anyio.to_thread.run_sync(copy.deepcopy, payload)
    return copy.deepcopy(payload)
