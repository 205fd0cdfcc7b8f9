"""What a tool is, and how a call of the model becomes its arguments.

Never opens a file or a shell: tools are given what they need when they are made. Read next:
loop.py (who runs them), ../tools/kit.py (the ones we have).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from singletree.messages import Image, Text
from singletree.model.base import ToolSpec

ToolKind = Literal["read", "edit", "execute", "search", "other"]


class Args(BaseModel):
    """Base of every tool's arguments. Field descriptions are text that the model reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)


A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One execution: `update` tells more output (text to append) to whoever watches."""

    call_id: str
    update: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What goes back to the model (`content`) and what only people see (`details`, JSON)."""

    content: tuple[Text | Image, ...]
    details: JsonValue = None
    is_error: bool = False

    @classmethod
    def text(cls, text: str, *, details: JsonValue = None, is_error: bool = False) -> Self:
        """An output of one text."""
        return cls((Text(text=text),), details, is_error)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `sequential` tools make their whole batch run one after the other.

    `run` raises `ToolError` for what the model should hear as an error.
    """

    name: str
    label: str
    kind: ToolKind
    description: str
    args: type[BaseModel]
    run: Callable[[BaseModel, ToolRun], Awaitable[ToolOutput]]
    snippet: str = ""
    guidelines: tuple[str, ...] = ()
    sequential: bool = False
    prepare: Callable[[Mapping[str, JsonValue]], Mapping[str, JsonValue]] = field(
        default=lambda raw: raw
    )
    """Shapes older or sloppy arguments before they are validated."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(self.name, self.description, self.args.model_json_schema())


def typed(
    args: type[A], run: Callable[[A, ToolRun], Awaitable[ToolOutput]]
) -> Callable[[BaseModel, ToolRun], Awaitable[ToolOutput]]:
    """A run function that checks its arguments to be `args`: how a Tool is made without `Any`."""

    async def checked(given: BaseModel, tool_run: ToolRun) -> ToolOutput:
        assert isinstance(given, args)
        return await run(given, tool_run)

    return checked
