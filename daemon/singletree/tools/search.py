"""grep: search file contents with ripgrep, and unsaved buffers as the user sees them.

Links are not followed, `.git` and ignored files are passed by, every line and the whole are
bounded. Buffers that an editor holds unsaved are searched in place of their files. Never changes a
file. Text the model reads stands in the constants. Read next: ripgrep.py (the program), find.py.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from pydantic import Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.tools.looks import shown_name
from singletree.tools.paths import locate, trouble
from singletree.tools.ripgrep import Found, Query, run_ripgrep
from singletree.tools.truncate import MAX_BYTES, bounded, details_of, format_size, keep_head
from singletree.tools.world import World

DESCRIPTION = (
    "Search file contents with a regular expression (ripgrep's dialect: no lookaround, no "
    "backreferences). Hidden files are searched; ignored ones (.gitignore), .git and binary files "
    "are not. Unsaved text in the editor is searched as it stands there. Lines come back as "
    "`path:line: text`, context as `path-line- text`, paths relative to what was searched."
)
SNIPPET = "Search file contents"
PATTERN = "The regular expression, or the exact text if literal is true."
PATH = "The file or folder to search; the workspace if left out."
GLOB = "Only files that match this glob, such as `*.py` or `src/**/*.ts`."
IGNORE_CASE = "Match letters in both cases."
LITERAL = "Take the pattern as plain text."
CONTEXT = "Lines to show before and after each match; none if left out."
LIMIT = "How many matching lines at most; 100 if left out."

NOTHING = "No line matches."
NOT_PLAIN = "{path} is neither a folder nor a plain file: it is not searched."
MORE = "[There are more than {limit} matching lines. Narrow the search, or set limit to {suggest}.]"
CUT_LINES = (
    "[Long lines are shown in part: {chars} characters around the match. Use read to see more.]"
)
CUT = "[The output is cut at {size}: {shown} of {total} lines are shown. Narrow the search.]"
UNREAD = "[Some files could not be searched: {reason}]"

DEFAULT_LIMIT = 100
MOST = 1_000_000
MAX_LINE = 500


class GrepArgs(Args):
    """What the model gives."""

    pattern: str = Field(description=PATTERN)
    path: str | None = Field(default=None, description=PATH)
    glob: str | None = Field(default=None, description=GLOB)
    ignoreCase: bool | None = Field(default=None, description=IGNORE_CASE)
    literal: bool | None = Field(default=None, description=LITERAL)
    context: float | None = Field(default=None, description=CONTEXT)
    limit: float | None = Field(default=None, description=LIMIT)


def grep_tool(world: World, *, hidden: Sequence[Path] = ()) -> Tool:
    """The tool. `hidden`: files and folders that a search through a folder passes by."""

    async def run(args: GrepArgs, tool_run: ToolRun) -> ToolOutput:
        place = await locate(world, args.path or ".")
        if place.kind not in ("dir", "file"):
            raise ToolError(NOT_PLAIN.format(path=shown_name(args.path or ".")))
        limit = bounded(args.limit, DEFAULT_LIMIT, 1, MOST)
        target, whole = place.path, place.kind == "dir"
        query = Query(
            args.pattern,
            glob=args.glob,
            ignore_case=bool(args.ignoreCase),
            literal=bool(args.literal),
            context=bounded(args.context, 0, 0, MOST),
            limit=limit,
            names=() if whole else (target.name,),
            width=MAX_LINE,
        )
        real, folder = await anyio.to_thread.run_sync(_led_to, target, whole)
        world.files.leads.check(target, real)
        found = await _search(query, folder, Path(real), world.files.dirty(), hidden)
        return _told(found, limit, place.note)

    return Tool(
        name="grep",
        label="Search",
        kind="search",
        description=DESCRIPTION,
        args=GrepArgs,
        run=typed(GrepArgs, run),
        snippet=SNIPPET,
    )


def _led_to(target: Path, whole: bool) -> tuple[str, Path]:
    """The real place, and that of the folder to search in."""
    real = os.path.realpath(target)
    return real, Path(real if whole else os.path.realpath(target.parent))


async def _search(
    query: Query, folder: Path, real: Path, dirty: Mapping[Path, bytes], hidden: Sequence[Path]
) -> Found:
    """The disk without the files that are open unsaved, then those from a copy of the buffers.

    `real` is the folder, or the one file in it that is asked for, where links lead.
    """
    secret = await anyio.to_thread.run_sync(_below, folder, hidden)
    if query.names:
        open_here = {name: dirty[real] for name in query.names if real in dirty}
    else:
        shut = {folder / name for name in secret}
        open_here = {
            str(path.relative_to(folder)): data
            for path, data in dirty.items()
            if path.is_relative_to(folder) and shut.isdisjoint((path, *path.parents))
        }
    if query.names and len(open_here) == len(query.names):
        found = Found()
    else:
        found = await run_ripgrep(query, folder, without=[*open_here, *secret])
    if not open_here:
        return found
    try:
        copy = Path(await anyio.to_thread.run_sync(_copied, open_here))
    except OSError as error:
        raise trouble(tempfile.gettempdir(), error) from error
    try:
        return found.joined(await run_ripgrep(query, copy), query.limit)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(shutil.rmtree, copy, True)


def _below(folder: Path, paths: Sequence[Path]) -> list[str]:
    """Those that are really in the folder, relative to it."""
    real = [Path(os.path.realpath(path)) for path in paths]
    return [str(path.relative_to(folder)) for path in real if folder in path.parents]


def _copied(buffers: Mapping[str, bytes]) -> str:
    """The buffers as files in a private folder, at the same relative places."""
    folder = tempfile.mkdtemp(prefix="singletree-")
    try:
        for name, data in buffers.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _told(found: Found, limit: int, note: str) -> ToolOutput:
    notes: list[str] = []
    details: dict[str, JsonValue] = {}
    cut = keep_head(found.text(), lines=len(found.lines) + 1)
    if found.more:
        notes.append(MORE.format(limit=limit, suggest=limit * 2))
        details["matchLimitReached"] = limit
    if found.cut_lines:
        notes.append(CUT_LINES.format(chars=MAX_LINE))
        details["linesTruncated"] = True
    if cut.by:
        size = format_size(MAX_BYTES)
        notes.append(CUT.format(size=size, shown=cut.lines, total=cut.total_lines))
        details["truncation"] = details_of(cut)
    if found.problem:
        notes.append(UNREAD.format(reason=found.problem))
    notes += [note] if note else []
    body = cut.text if found.lines else NOTHING
    text = f"{body}\n\n" + "\n".join(notes) if notes else body
    return ToolOutput.text(text, details=details or None)
