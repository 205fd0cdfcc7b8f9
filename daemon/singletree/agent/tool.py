"""What a tool is, and how a call of the model becomes its arguments.

Never opens a file or a shell: tools are given what they need when they are made. Read next:
loop.py (who runs them), ../tools/kit.py (the ones we have).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from singletree.agent.arguments.mistakes import as_problems, explain
from singletree.agent.arguments.plain import plain_schema
from singletree.agent.arguments.repair import repaired
from singletree.agent.arguments.schema import problems
from singletree.errors import ToolError
from singletree.messages import Image, Text, ToolCall
from singletree.model.base import ToolSpec

ToolKind = Literal["read", "edit", "execute", "search", "other"]


UNREADABLE = (
    "Not run: this call to {name} could not be read. {why} Send it again with one complete JSON "
    "object; if a text in it is long, send less at once."
)


class Args(BaseModel):
    """Base of every tool's arguments. Field descriptions are text that the model reads."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class AnyArgs(Args):
    """Arguments of a tool that brings a JSON schema of its own: whatever fits it."""

    model_config = ConfigDict(extra="allow")

    def values(self) -> dict[str, JsonValue]:
        """The arguments by name."""
        return dict(self.model_extra or {})


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
    schema: Mapping[str, JsonValue] | None = None
    """Instead of the JSON schema of `args`: an extension's tool brings its own."""
    prepare: Callable[[Mapping[str, JsonValue]], Mapping[str, JsonValue]] = field(
        default=lambda raw: raw
    )
    """Shapes older or sloppy arguments before they are validated."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        schema = self.schema if self.schema is not None else plain_schema(self.args)
        return ToolSpec(self.name, self.description, schema)


def parse_args(tool: Tool, call: ToolCall) -> BaseModel:
    """The call's arguments as the tool's own type, small mistakes put right.

    ToolError with a text that the model can act on if they still do not fit.
    """
    if call.arguments_error is not None:
        why = f"{call.arguments_error.rstrip('.')}."
        raise ToolError(UNREADABLE.format(name=tool.name, why=why))
    schema: JsonValue = dict(tool.spec.schema)
    given = repaired(schema, dict(tool.prepare(call.arguments)))
    if wrong := problems(schema, given):
        raise ToolError(explain(tool.name, wrong))
    try:
        return tool.args.model_validate(given)
    except ValidationError as error:
        raise ToolError(explain(tool.name, as_problems(error))) from None


def values_of(args: BaseModel) -> dict[str, JsonValue]:
    """Arguments as they were given, put right, by name."""
    return args.model_dump(mode="json", by_alias=True, exclude_unset=True)


def typed(
    args: type[A], run: Callable[[A, ToolRun], Awaitable[ToolOutput]]
) -> Callable[[BaseModel, ToolRun], Awaitable[ToolOutput]]:
    """A run function that checks its arguments to be `args`: how a Tool is made without `Any`."""

    async def checked(given: BaseModel, tool_run: ToolRun) -> ToolOutput:
        assert isinstance(given, args)
        return await run(given, tool_run)

    return checked
