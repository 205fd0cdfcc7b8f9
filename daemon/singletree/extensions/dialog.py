"""A dialog with a person, and what comes of it, as values that every face can show.

Never knows how it is shown. Read next: api.py (who may put one up).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from singletree.agent.arguments.schema import problems

DialogKind = Literal["select", "confirm", "input", "editor", "form"]


@dataclass(frozen=True, slots=True)
class Choosable:
    """One thing to choose."""

    value: str
    label: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Dialog:
    """What a person is asked.

    `select` has `options`, `form` a `schema` (JSON Schema of an object), `input` (one line) and
    `editor` (a text) may have a `prefill`. `timeout`: seconds after which nobody was there.
    """

    kind: DialogKind
    title: str
    message: str | None = None
    options: tuple[Choosable, ...] = ()
    schema: Mapping[str, JsonValue] | None = None
    prefill: str | None = None
    timeout: float | None = None

    def takes(self, value: JsonValue) -> bool:
        """Whether this is an answer to it."""
        match self.kind:
            case "select":
                return any(value == option.value for option in self.options)
            case "confirm":
                return isinstance(value, bool)
            case "input" | "editor":
                return isinstance(value, str)
            case "form":
                schema = {} if self.schema is None else dict(self.schema)
                return isinstance(value, dict) and not problems(schema, value)


@dataclass(frozen=True, slots=True)
class Reply:
    """The value, or that there is none.

    `by`: a client, "abort", "timeout" or "policy" (nobody could be asked).
    """

    value: JsonValue = None
    cancelled: bool = False
    by: str | None = None


Show = Callable[[Dialog], Awaitable[Reply]]
"""Puts a dialog before whoever is there."""


async def show_nobody(dialog: Dialog) -> Reply:
    """There is nobody."""
    return Reply(cancelled=True, by="policy")
