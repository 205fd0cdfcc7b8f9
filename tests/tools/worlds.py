"""A world on a folder, for the tools that need no shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import JsonValue

from singletree.agent.tool import Tool, ToolOutput, ToolRun, parse_args
from singletree.errors import ToolError
from singletree.messages import Text, ToolCall
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.world import Exit, Files


class NoShell:
    """A shell nobody may use."""

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        raise AssertionError(f"a file tool ran {command}")


def world_of(folder: Path, files: Files | None = None) -> LocalWorld:
    return LocalWorld(folder, files or Disk(), NoShell())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def run_tool(tool: Tool, **args: JsonValue) -> ToolOutput:
    """One call, as the loop makes it: an error is an output too."""
    try:
        parsed = parse_args(tool, ToolCall(id="1", name=tool.name, arguments=args))
        return await tool.run(parsed, ToolRun("1", lambda text: None))
    except ToolError as error:
        return ToolOutput.text(error.message, is_error=True)


async def said(tool: Tool, **args: JsonValue) -> str:
    """What the model hears of it, without pictures."""
    output = await run_tool(tool, **args)
    return "\n".join(block.text for block in output.content if isinstance(block, Text))
