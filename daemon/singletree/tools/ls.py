"""The tool ls: the names in a folder, one a line.

Never looks into a file, never goes deeper. Read next: find.py (names in a whole tree).
"""

from __future__ import annotations

from anyio import to_thread
from pydantic import Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.tools.looks import shown_name
from singletree.tools.paths import locate, trouble
from singletree.tools.truncate import bounded, details_of, keep_head, notice, plural
from singletree.tools.world import Listed, World

DEFAULT_LIMIT = 500
MOST = 1_000_000
MANY = 5000
"""Names that are put in order in the loop; more would hold it up."""
MAX_DEAD = 20

DESCRIPTION = (
    "List the names in a folder, sorted, dotfiles too; folders end with /."
    f" At most {DEFAULT_LIMIT} unless limit says otherwise."
)
SNIPPET = "List a folder"
PATH = "The folder; the workspace if not given"
LIMIT = f"How many names at most (default {DEFAULT_LIMIT})"

EMPTY = "[The folder is empty.]"
LIMITED = "[{shown} of {total} are shown. For more give limit={suggest}, or use find.]"
DEAD_LINKS = "[Links that lead nowhere: {names}]"
ELSEWHERE = "use find to narrow it down"
NO_FOLDER = "{path} is a file, not a folder. Read it with read."


class LsArgs(Args):
    """What ls takes."""

    path: str = Field(default=".", description=PATH)
    limit: int | None = Field(default=None, description=LIMIT)


def ls_tool(world: World) -> Tool:
    """The tool."""

    async def run(args: LsArgs, tool_run: ToolRun) -> ToolOutput:
        place = await locate(world, args.path)
        if place.kind != "dir":
            raise ToolError(NO_FOLDER.format(path=shown_name(args.path)))
        try:
            entries = await world.files.entries(place.path)
        except OSError as error:
            raise trouble(args.path, error) from error
        limit = bounded(args.limit, DEFAULT_LIMIT, 1, MOST)
        if len(entries) <= MANY:
            return _listing(entries, limit, place.note)
        return await to_thread.run_sync(_listing, entries, limit, place.note)

    return Tool("ls", "List", "search", DESCRIPTION, LsArgs, typed(LsArgs, run), SNIPPET)


def _listing(entries: list[Listed], limit: int, note: str) -> ToolOutput:
    entries = sorted(entries, key=lambda entry: (entry.name.casefold(), entry.name))
    dead = [shown_name(entry.name) for entry in entries if entry.kind == "link"]
    names = [
        shown_name(entry.name) + "/" * (entry.kind == "dir")
        for entry in entries
        if entry.kind != "link"
    ]
    cut = keep_head("\n".join(names[:limit]), lines=limit)
    notes, details = [], dict[str, JsonValue]()
    if len(names) > limit:
        total = plural(len(names), "name")
        notes.append(LIMITED.format(shown=limit, total=total, suggest=limit * 2))
        details["entryLimitReached"] = limit
    if cut.by is not None:
        notes.append(notice(cut, ELSEWHERE))
        details["truncation"] = details_of(cut)
    if dead:
        more = " ..." if len(dead) > MAX_DEAD else ""
        notes.append(DEAD_LINKS.format(names=", ".join(dead[:MAX_DEAD]) + more))
    if not entries:
        notes.append(EMPTY)
    if note:
        notes.append(note)
    body = [cut.text] if cut.text else []
    text = "\n\n".join(body + ["\n".join(notes)] * bool(notes))
    return ToolOutput.text(text, details=details or None)
