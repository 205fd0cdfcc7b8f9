"""find: files and folders by a glob, without what the project ignores, links not followed.

Works on names on the disk, and on those of buffers that were never saved; never opens a file but
ignore files. Text the model reads stands in the constants. Read next: ignore.py, ../globs.py.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Collection, Iterator
from itertools import chain
from pathlib import Path

import anyio
from pydantic import Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.globs import translate
from singletree.pathtext import home, is_there
from singletree.tools.ignore import IGNORE_FILES, Ignore, ignore_around
from singletree.tools.looks import shown_name
from singletree.tools.paths import locate, trouble
from singletree.tools.truncate import MAX_BYTES, bounded, format_size, keep_head
from singletree.tools.world import World

DESCRIPTION = (
    "Find files and folders by name or path with a glob. A pattern without a slash matches names "
    "at any depth (`*.py`, `test_*`); one with a slash matches paths from the searched folder "
    "(`src/**/*.ts`). `{a,b}` are alternatives. Letters match in both cases unless the pattern has "
    "a capital. Hidden files are found; ignored ones (.gitignore) and .git are not. Folders end in "
    "a slash; paths are relative to the searched folder."
)
SNIPPET = "Find files by glob"
PATTERN = "The glob."
PATH = "The folder to search; the workspace if left out."
LIMIT = "How many results at most; 1000 if left out."

NOTHING = "Nothing matches."
NO_FOLDER = "{path} is a file, not a folder: name the folder to search."
BAD_GLOB = "The pattern {pattern} is not a glob: {reason}."
OUTSIDE = (
    "The pattern {pattern} leaves the searched folder {root}. Name the folder in path instead."
)
MORE = (
    "[There are more than {limit} results; these are the first ones. Narrow the pattern, or set "
    "limit to {suggest}.]"
)
CUT = (
    "[The list is cut at {size}: {shown} of {total} results are shown. Narrow the pattern, or name "
    "a subfolder in path.]"
)

DEFAULT_LIMIT = 1000
MOST = 1_000_000


class FindArgs(Args):
    """What the model gives."""

    pattern: str = Field(description=PATTERN)
    path: str | None = Field(default=None, description=PATH)
    limit: float | None = Field(default=None, description=LIMIT)


def find_tool(world: World) -> Tool:
    """The tool."""

    async def run(args: FindArgs, tool_run: ToolRun) -> ToolOutput:
        place = await locate(world, args.path or ".")
        if place.kind != "dir":
            raise ToolError(NO_FOLDER.format(path=shown_name(args.path or ".")))
        real = Path(await anyio.to_thread.run_sync(os.path.realpath, place.path))
        world.files.leads.check(place.path, str(real))
        limit = bounded(args.limit, DEFAULT_LIMIT, 1, MOST)
        stop = threading.Event()
        try:
            unsaved = tuple(world.files.dirty())

            def collect() -> ToolOutput:
                matches = matcher(args.pattern, place.path, real)
                return _told(_collect(real, matches, limit + 1, stop, unsaved), limit, place.note)

            return await anyio.to_thread.run_sync(collect, abandon_on_cancel=True)
        finally:
            stop.set()

    return Tool(
        name="find",
        label="Find files",
        kind="search",
        description=DESCRIPTION,
        args=FindArgs,
        run=typed(FindArgs, run),
        snippet=SNIPPET,
    )


def matcher(pattern: str, root: Path, real: Path) -> Callable[[str], bool]:
    """A test for paths relative to `root`, really `real`; those of folders end in a slash."""
    before, glob = _seen(pattern, root, real)
    try:
        text = translate(glob.rstrip("/") or "*")
    except ValueError as error:
        raise ToolError(BAD_GLOB.format(pattern=pattern, reason=error)) from None
    flags = re.DOTALL if any(c.isupper() for c in glob) else re.DOTALL | re.IGNORECASE
    compiled = re.compile(text, flags)
    whole = "/" in glob.rstrip("/") or pattern.startswith("/")

    def matches(path: str) -> bool:
        if glob.endswith("/") and not path.endswith("/"):
            return False
        path = path.rstrip("/")
        seen = f"{before}{path}" if whole else path.rpartition("/")[2]
        return compiled.fullmatch(seen) is not None

    return matches


def walk(root: str, ignore: Ignore, stop: threading.Event) -> Iterator[str]:
    """Paths under `root`, in order of name; folders end in a slash. Unreadable ones are empty."""
    stack = [(root, ignore)]
    while stack and not stop.is_set():
        folder, rules = stack.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda e: e.name)
        except OSError:
            continue
        rules = rules.inside(folder, {e.name for e in entries})
        inner: list[tuple[str, Ignore]] = []
        for entry in entries:
            is_folder = _is_folder(entry)
            path = f"{folder}/{entry.name}"
            if rules.skips(path, folder=is_folder):
                continue
            yield path + "/" if is_folder else path
            if is_folder:
                inner.append((path, rules))
        stack.extend(reversed(inner))


def _collect(
    root: Path,
    matches: Callable[[str], bool],
    limit: int,
    stop: threading.Event,
    unsaved: Collection[Path],
) -> list[str]:
    """`root` is a real path: a link that turns meanwhile leads nobody astray."""
    try:
        os.scandir(root).close()
    except OSError as error:
        raise trouble(root, error) from error
    top = str(root).rstrip("/")
    ignore = ignore_around(str(root), home())
    found: list[str] = []
    for path in chain(_never_saved(root, unsaved, ignore), walk(top, ignore, stop)):
        relative = path[len(top) + 1 :]
        if matches(relative):
            found.append(shown_name(relative))
            if len(found) >= limit:
                break
    return found


def _never_saved(root: Path, unsaved: Collection[Path], ignore: Ignore) -> Iterator[str]:
    """Buffers below `root` that the disk does not have yet, as paths that begin with it."""
    for path in unsaved:
        if path.is_relative_to(root) and not is_there(path):
            rules, shown = ignore, True
            for folder in reversed(path.parents):
                if folder.is_relative_to(root):
                    shown = shown and (folder == root or not rules.skips(str(folder), folder=True))
                    rules = rules.inside(str(folder), set(IGNORE_FILES))
            if shown and not rules.skips(str(path), folder=False):
                yield str(path)


def _seen(pattern: str, root: Path, real: Path) -> tuple[str, str]:
    """What stands before a path below `root` where the pattern looks at it, and the pattern."""
    if not pattern.startswith("/"):
        while pattern.startswith("./"):
            pattern = pattern[2:]
        if ".." not in pattern.split("/"):
            return "", pattern
    for known in (str(root), str(real)):
        below = f"{known.rstrip('/')}/"
        if pattern.startswith(below):
            return "", pattern.removeprefix(below)
        certain, crossing, rest = pattern.partition("**")
        if crossing and below.startswith(certain) and pattern.startswith("/"):
            return below.removeprefix(certain), crossing + rest
    raise ToolError(OUTSIDE.format(pattern=pattern, root=root))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _told(found: list[str], limit: int, note: str) -> ToolOutput:
    if not found:
        return ToolOutput.text(f"{NOTHING}\n{note}".rstrip())
    more = len(found) > limit
    found = sorted(found[:limit])
    cut = keep_head("\n".join(found), lines=len(found) + 1)
    notes: list[str] = []
    details: dict[str, JsonValue] = {}
    if more:
        notes.append(MORE.format(limit=limit, suggest=limit * 2))
        details["resultLimitReached"] = limit
    if cut.by:
        size = format_size(MAX_BYTES)
        notes.append(CUT.format(size=size, shown=cut.lines, total=len(found)))
        details["truncation"] = {"truncated": True, "truncatedBy": "bytes"}
    notes += [note] if note else []
    text = "\n\n".join([cut.text, "\n".join(notes)]) if notes else cut.text
    return ToolOutput.text(text, details=details or None)
