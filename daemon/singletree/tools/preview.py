"""What an edit or a write would change, as a patch, before anybody is asked whether it may.

Reads, never writes. Read next: edit.py, write.py.
"""

from __future__ import annotations

from anyio import to_thread
from pydantic import BaseModel

from singletree.tools.compare import unified
from singletree.tools.diff import bounded_diff, lines_of
from singletree.tools.edit import EditArgs, apply_edits, check_editable
from singletree.tools.looks import shown, shown_name
from singletree.tools.paths import locate, locate_new
from singletree.tools.world import World
from singletree.tools.write import WriteArgs

NO_TEXT = "[The file that is there now is no text.]"


async def preview_change(world: World, args: BaseModel) -> str | None:
    """A unified diff; None for other tools. ToolError where the call would fail."""
    if isinstance(args, EditArgs):
        name = shown_name(args.path)
        place = await locate(world, args.path)
        check_editable(place, name)
        data = await world.files.read(place.path)
        edited = await to_thread.run_sync(
            apply_edits, data, args.edits, name, abandon_on_cancel=True
        )
        return bounded_diff(edited.patch)
    if isinstance(args, WriteArgs):
        return await _written(world, args)
    return None


async def _written(world: World, args: WriteArgs) -> str | None:
    place = await locate_new(world, args.path)
    if place.kind not in ("file", ""):
        return None
    name = shown_name(args.path)
    old = await world.files.read(place.path) if place.kind else b""
    return await to_thread.run_sync(
        _compared, old, args.content, name, place.kind == "", abandon_on_cancel=True
    )


def _compared(old: bytes, new: str, name: str, is_new: bool) -> str:
    try:
        before = old.decode()
    except UnicodeDecodeError:
        before, name = "", f"{name} {NO_TEXT}"
    lines = unified(lines_of(before), lines_of(new), "/dev/null" if is_new else name, name)
    return bounded_diff("".join(map(shown, lines)))
