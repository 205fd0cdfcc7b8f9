"""What an edit or a write would change, as a patch, before anybody is asked whether it may.

Reads, never writes. Read next: edit.py, write.py.
"""

from __future__ import annotations

import difflib

from anyio import to_thread
from pydantic import BaseModel

from singletree.tools.edit import EditArgs, apply_edits
from singletree.tools.looks import shown, shown_name
from singletree.tools.paths import locate, locate_new
from singletree.tools.world import World
from singletree.tools.write import WriteArgs

MAX_PREVIEW = 200_000
TOO_MUCH = "[… {count} more lines]"
NO_TEXT = "[The file that is there now is no text.]"


async def preview_change(world: World, args: BaseModel) -> str | None:
    """A unified diff; None for other tools. ToolError where the call would fail."""
    if isinstance(args, EditArgs):
        place = await locate(world, args.path)
        if place.kind != "file":
            return None
        data = await world.files.read(place.path)
        edited = await to_thread.run_sync(apply_edits, data, args.edits, shown_name(args.path))
        return _bounded(edited.patch)
    if isinstance(args, WriteArgs):
        return await _written(world, args)
    return None


async def _written(world: World, args: WriteArgs) -> str | None:
    place = await locate_new(world, args.path)
    if place.kind not in ("file", ""):
        return None
    old = await world.files.read(place.path) if place.kind else b""
    name = shown_name(args.path)
    return await to_thread.run_sync(_compared, old, args.content, name, place.kind == "")


def _compared(old: bytes, new: str, name: str, is_new: bool) -> str:
    try:
        before = old.decode()
    except UnicodeDecodeError:
        before, name = "", f"{name} {NO_TEXT}"
    if len(before) + len(new) > 10 * MAX_PREVIEW:  # comparing would take too long
        lines = [f"-{line}" for line in before.splitlines()] + [f"+{x}" for x in new.splitlines()]
    else:
        lines = list(
            difflib.unified_diff(
                before.splitlines(),
                new.splitlines(),
                "/dev/null" if is_new else name,
                name,
                lineterm="",
            )
        )
    return _bounded("\n".join(shown(line) for line in lines))


def _bounded(patch: str) -> str:
    if len(patch) <= MAX_PREVIEW:
        return patch
    kept = patch[:MAX_PREVIEW].rpartition("\n")[0]
    return f"{kept}\n{TOO_MUCH.format(count=patch.count(chr(10)) - kept.count(chr(10)))}"
