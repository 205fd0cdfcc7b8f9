"""Paths as models and people write them: ~, @, file URIs, and Unicode forms that only look alike.

`resolve` is pure; `locate` asks the Files what is there, and falls back to the one thing that the
path can only have meant. Never opens a file. Read next: disk.py (what is at a path).
"""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from anyio import to_thread

from singletree.errors import ToolError
from singletree.tools.looks import SPACES, composed, looks_of_name, shown_name
from singletree.tools.world import Files, Stat, World

FOUND_INSTEAD = "[There is no {asked}; this is {real}, the only one that looks like it.]"
MISSING = "{path} does not exist.{hint}"
SIMILAR = " Similar names there: {names}."
NO_FOLDER = " The nearest folder that exists is {folder}.{similar}"
FILE_AS_FOLDER = "{path} does not exist: {part} is a file, not a folder."
IMPOSSIBLE = "No path can be {path}: it has a NUL or half a character in it."
TOO_LONG = "No path is so long: it has {count} characters."
GONE = "The folder of the workspace is gone: there is no {cwd}. Nothing can be done in it."
DEAD_LINK = "{path} is a link that leads nowhere."
UNCHANGED = " Nothing was changed."
TROUBLE = {
    errno.EACCES: "No permission for {path}.{end}",
    errno.EPERM: "No permission for {path}.{end}",
    errno.EROFS: "{path} is on a read-only disk.{end}",
    errno.ENOSPC: "No space left on the disk of {path}.{end}",
    errno.ENOENT: "{path} does not exist.{end}",
    errno.EISDIR: "{path} is a folder.{end}",
    errno.ENOTDIR: "{path}: a part of the path is a file, not a folder.{end}",
    errno.EEXIST: "{path}: a part of the path is a file, not a folder.{end}",
    errno.ENAMETOOLONG: "The name is too long: {path}.{end}",
    errno.ELOOP: "{path} goes round in a circle of links.{end}",
}
OTHER_TROUBLE = "{path}: {why}.{end}"

MAX_PATH = 8192
"""Characters; systems take half of it."""

_IMPOSSIBLE = re.compile("[\x00\ud800-\udc7f\udd00-\udfff]")
_LINE_SUFFIX = re.compile(r":\d+(?:[-:]\d+)?:?$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads. `note`: text for the model when that is not the very path it gave."""

    path: Path
    kind: str
    size: int = 0
    dirty: bool = False
    note: str = ""


def resolve(text: str, cwd: Path) -> Path:
    """Make a path absolute, without looking at the disk; links stay as they are."""
    if len(text) > MAX_PATH:
        raise ToolError(TOO_LONG.format(count=len(text)))
    if _IMPOSSIBLE.search(text):
        raise ToolError(IMPOSSIBLE.format(path=shown_name(text)))
    text = SPACES.sub(" ", text.removeprefix("@"))
    if text == "~" or text.startswith("~/"):
        text = os.path.expanduser("~") + text[1:]  # noqa: PTH111
    elif text.startswith("file://"):
        uri = urlsplit(text)
        text = unquote(uri.path, errors="surrogateescape").replace("\0", "\u2400")
    return Path(os.path.normpath("/" + str(cwd / text).lstrip("/")))


async def locate(world: World, text: str) -> Place:
    """What existing file or folder was meant; a ToolError that says what is near if none."""
    path = world.resolve(text)
    if (found := await _stat(world.files, path)) is not None:
        return _place(path, found)
    others = _other_readings(world, text, path)
    alike = await look_alike(world.files, path, looks_of_name)
    for other in [*others, alike] if alike else others:
        if (found := await _stat(world.files, other)) is not None:
            return _place(other, found, text)
    raise await missing(world, text, path)


async def locate_new(world: World, text: str) -> Place:
    """Where to write: the path itself, or the same name in another Unicode form; kind "" if new."""
    path = world.resolve(text)
    if (found := await _stat(world.files, path)) is not None:
        return _place(path, found)
    other = await look_alike(world.files, path, composed)
    if other is not None and (found := await _stat(world.files, other)) is not None:
        return _place(other, found, text)
    return Place(path, "")


async def check_workspace(world: World, path: Path) -> None:
    """A ToolError where a file would be made in a workspace whose folder is gone."""
    if path.is_relative_to(world.cwd) and await _stat(world.files, world.cwd) is None:
        raise ToolError(GONE.format(cwd=shown_name(world.cwd)))


@asynccontextmanager
async def claim(
    world: World, text: str, find: Callable[[World, str], Awaitable[Place]]
) -> AsyncIterator[Place]:
    """The place that `find` gives, held against other writers, in the order of asking."""
    path = world.resolve(text)
    async with world.lock(path):
        place = await find(world, text)
        if place.path == path:
            yield place
        else:
            async with world.lock(place.path):
                yield place


async def look_alike(files: Files, path: Path, form: Callable[[str], str]) -> Path | None:
    """The only existing path that has the same form as `path`, None for several or none."""
    here, missing = await _nearest(files, path)
    for part in missing:
        try:
            names = [entry.name for entry in await files.entries(here)]
        except OSError:
            return None
        wanted = form(part)
        same = [name for name in names if name == part] or [
            name for name in names if form(name) == wanted
        ]
        if len(same) != 1:
            return None
        here /= same[0]
    return here


async def missing(world: World, text: str, path: Path) -> ToolError:
    """The error for a path where nothing is, with what is nearby."""
    here, parts = await _nearest(world.files, path)
    if _above_workspace(world, here, path):
        return ToolError(GONE.format(cwd=shown_name(world.cwd)))
    try:
        entries = {entry.name: entry.kind for entry in await world.files.entries(here)}
    except NotADirectoryError:
        return ToolError(FILE_AS_FOLDER.format(path=shown_name(text), part=shown_name(here)))
    except OSError:
        entries = {}
    if entries.get(parts[0]) == "link" and len(parts) == 1:
        return ToolError(DEAD_LINK.format(path=shown_name(text)))
    close = await to_thread.run_sync(difflib.get_close_matches, parts[0], entries, 3, 0.6)
    similar = SIMILAR.format(names=", ".join(map(shown_name, close))) if close else ""
    if len(parts) > 1:
        similar = NO_FOLDER.format(folder=shown_name(here), similar=similar)
    return ToolError(MISSING.format(path=shown_name(text), hint=similar))


def trouble(path: Path | str, error: OSError, *, unchanged: bool = False) -> ToolError:
    """What the disk said, in words a model can act on."""
    form = TROUBLE.get(error.errno or 0, OTHER_TROUBLE)
    why = error.strerror or type(error).__name__
    return ToolError(
        form.format(path=shown_name(path), why=why, end=UNCHANGED if unchanged else "")
    )


def _place(path: Path, found: Stat, instead_of: str = "") -> Place:
    note = ""
    if instead_of:
        note = FOUND_INSTEAD.format(asked=shown_name(instead_of), real=shown_name(path))
    return Place(path, found.kind, found.size, found.dirty, note)


def _other_readings(world: World, text: str, path: Path) -> list[Path]:
    """An @ that belongs to the name; quotes or blanks round it; a line number behind it."""
    others = []
    if text.startswith("@"):
        others.append(world.cwd / text)
    bare = text.strip().strip("`'\"").strip()
    others.append(world.resolve(bare))
    others.append(world.resolve(_LINE_SUFFIX.sub("", bare)))
    return [other for other in others if other != path]


async def _stat(files: Files, path: Path) -> Stat | None:
    try:
        return await files.stat(path)
    except OSError as error:
        raise trouble(path, error) from error


def _above_workspace(world: World, here: Path, path: Path) -> bool:
    """Whether the nearest folder to a path in the workspace is one above it: it is gone."""
    return path.is_relative_to(world.cwd) and here != world.cwd and world.cwd.is_relative_to(here)


async def _nearest(files: Files, path: Path) -> tuple[Path, list[str]]:
    """The nearest path above that exists, and the names below it that do not."""
    parts = [path.name]
    here = path.parent
    while here != here.parent and await _stat(files, here) is None:
        parts.insert(0, here.name)
        here = here.parent
    return here, parts
