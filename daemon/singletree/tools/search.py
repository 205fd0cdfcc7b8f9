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
from singletree.tools.leads import place_of
from singletree.tools.looks import shown_name
from singletree.tools.paths import locate, trouble
from singletree.tools.ripgrep import Found, Query, run_ripgrep
from singletree.tools.truncate import MAX_BYTES, bounded, details_of, format_size, keep_head
from singletree.tools.world import Files, World

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
        query = Query(
            args.pattern,
            glob=args.glob,
            ignore_case=bool(args.ignoreCase),
            literal=bool(args.literal),
            context=bounded(args.context, 0, 0, MOST),
            limit=limit,
            name="" if place.kind == "dir" else place.path.name,
            width=MAX_LINE,
        )
        found = await _search(query, place.path, world.files, hidden)
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


async def _search(query: Query, target: Path, files: Files, hidden: Sequence[Path]) -> Found:
    """What is at a path, held open, so that nothing else is searched; or a buffer in its place."""
    dirty = files.dirty()
    if query.name and dirty:
        real = await anyio.to_thread.run_sync(os.path.realpath, target)
        files.leads.check(target, real)
        if (data := dirty.get(Path(real))) is not None:
            return await _in_copies(query, {query.name: data})
    try:
        handle = await anyio.to_thread.run_sync(files.leads.open, target)
    except OSError as error:
        raise trouble(target, error) from error
    try:
        if query.name:
            return await run_ripgrep(query, target.parent, handle=handle)
        folder = Path(await anyio.to_thread.run_sync(place_of, handle, target))
        return await _in_folder(query, folder, handle, dirty, hidden)
    finally:
        os.close(handle)


async def _in_folder(
    query: Query, folder: Path, handle: int, dirty: Mapping[Path, bytes], hidden: Sequence[Path]
) -> Found:
    """The disk without the files that are open unsaved, then those."""
    secret = await anyio.to_thread.run_sync(_below, folder, hidden)
    shut = {folder / name for name in secret}
    open_here = {
        str(path.relative_to(folder)): data
        for path, data in dirty.items()
        if path.is_relative_to(folder) and shut.isdisjoint((path, *path.parents))
    }
    found = await run_ripgrep(query, folder, handle=handle, without=[*open_here, *secret])
    if not open_here:
        return found
    return found.joined(await _in_copies(query, open_here), query.limit)


async def _in_copies(query: Query, buffers: Mapping[str, bytes]) -> Found:
    try:
        copy = Path(await anyio.to_thread.run_sync(_copied, buffers))
    except OSError as error:
        raise trouble(tempfile.gettempdir(), error) from error
    try:
        return await run_ripgrep(query, copy)
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
