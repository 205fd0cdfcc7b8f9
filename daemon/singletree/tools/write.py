"""The tool write: a whole file, new or in place of an old one, at once or not at all.

Never opens a file by itself. Read next: disk.py (how a write is whole), edit.py (parts of a file).
"""

from __future__ import annotations

from pydantic import Field

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.tools.looks import FOREIGN, shown_name
from singletree.tools.paths import check_workspace, claim, locate_new
from singletree.tools.shapes import write_shape
from singletree.tools.truncate import count_lines, format_size, plural
from singletree.tools.world import World

DESCRIPTION = (
    "Write a whole file: a new one, or in place of the old one. Missing folders are made."
    " To change parts of a file use edit."
)
SNIPPET = "Write a whole file"
GUIDELINES = ("Use write for new files and complete rewrites only.",)
PATH = "The file: relative to the workspace, or absolute"
CONTENT = "The complete text of the file"

DONE = "{verb} {path}: {lines}, {size}."
CREATED = "Created"
REPLACED = "Replaced"
FOLDER = "{path} is a folder: give the path of a file in it."
HALF = (
    "The content has half a character (a lone surrogate) at position {at}. Nothing was written."
    " Send the text again with whole characters."
)


class WriteArgs(Args):
    """What write takes."""

    path: str = Field(description=PATH)
    content: str = Field(description=CONTENT)


def write_tool(world: World) -> Tool:
    """The tool."""

    async def run(args: WriteArgs, tool_run: ToolRun) -> ToolOutput:
        if half := FOREIGN.search(args.content):
            raise ToolError(HALF.format(at=half.start() + 1))
        data = args.content.encode()
        name = shown_name(args.path)
        async with claim(world, args.path, locate_new) as place:
            if place.kind == "dir" or args.path.endswith("/"):
                raise ToolError(FOLDER.format(path=name))
            if not place.kind:
                await check_workspace(world, place.path)
            written = await world.files.write(
                place.path, data, label=f"write {name}", call_id=tool_run.call_id
            )
        said = DONE.format(
            verb=REPLACED if place.kind else CREATED,
            path=name,
            lines=plural(count_lines(data), "line"),
            size=format_size(len(data)),
        )
        notes = [note for note in (said, written.note, place.note) if note]
        return ToolOutput.text("\n".join(notes), details={"created": not place.kind})

    return Tool(
        "write",
        "Write",
        "edit",
        DESCRIPTION,
        WriteArgs,
        typed(WriteArgs, run),
        SNIPPET,
        GUIDELINES,
        prepare=write_shape,
    )
