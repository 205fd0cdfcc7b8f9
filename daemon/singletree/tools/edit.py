"""The tool edit: one or several replacements in a file, all found in it as it was before.

Only what is replaced changes: line ends, a byte order mark and bytes that are no UTF-8 stay as they
are. What is not found, or found more than once, changes nothing, and the error says where the
nearest is. Never opens a file by itself. Read next: match.py (how a text is found),
replace.py (what takes its place).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from anyio import to_thread
from pydantic import ConfigDict, Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.messages import well_formed
from singletree.tools.binary import binary_kind
from singletree.tools.diff import MAX_SHOWN, Change, apply, blocks, merged, numbered, patch
from singletree.tools.looks import FOREIGN, shown_name
from singletree.tools.match import EOL, How, Spot, View, find_spots
from singletree.tools.missed import missed, several
from singletree.tools.paths import Place, claim, locate, trouble
from singletree.tools.replace import replacement
from singletree.tools.shapes import edit_shape
from singletree.tools.truncate import plural
from singletree.tools.world import World

DESCRIPTION = (
    "Replace text in a file. Each oldText must be in the file exactly once; all are looked up in"
    " the file as it is before the call. Put several changes of one file into one call."
)
SNIPPET = "Replace text in a file"
GUIDELINES = (
    "Read a file before you edit it, and copy oldText from it.",
    "Keep oldText short: only as many lines as make it unique.",
)
PATH = "The file: relative to the workspace, or absolute"
EDITS = "The replacements; they must not overlap"
OLD = "The text to replace, as it is in the file"
NEW = "The text to put in its place"

DONE = "Edited {path}: {blocks} replaced ({lines})."
BY_LOOKS = "{edit} was found although quotes, dashes, blanks or Unicode forms differ."
BY_INDENT = "{edit} was found with another indentation; the new text was indented like the file."
NO_EDITS = "No edits were given. Nothing was changed."
EMPTY_OLD = (
    "{edit} is empty. Give the text that is to be replaced; for a new file use write."
    " Nothing was changed."
)
HALF = (
    "{edit} has half a character (a lone surrogate) at position {at}. Nothing was changed."
    " Send the edit again with whole characters."
)
OVERLAP = (
    "edits[{a}] and edits[{b}] change the same text ({lines} of {path}). Make them one edit."
    " Nothing was changed."
)
NO_CHANGE = "{path} already is as asked: old and new text are the same. Nothing was changed."
FOLDER = "{path} is a folder, not a file."
NOT_PLAIN = "{path} is not a plain file: it cannot be edited."
BINARY = "{path} is not text ({kind}): it cannot be edited. Nothing was changed."

BOM = "\ufeff"


class Edit(Args):
    """One replacement."""

    model_config = ConfigDict(populate_by_name=True)

    old_text: str = Field(alias="oldText", description=OLD)
    new_text: str = Field(alias="newText", description=NEW)


class EditArgs(Args):
    """What edit takes."""

    path: str = Field(description=PATH)
    edits: list[Edit] = Field(description=EDITS)


@dataclass(frozen=True, slots=True)
class Edited:
    """A file before and after. `how`: the way each edit was found."""

    data: bytes
    how: tuple[How, ...]
    lines: tuple[int, ...]
    diff: str
    patch: str

    @property
    def first_changed_line(self) -> int:
        """Counted from 1."""
        return self.lines[0]


def edit_tool(world: World) -> Tool:
    """The tool."""

    async def run(args: EditArgs, tool_run: ToolRun) -> ToolOutput:
        name = shown_name(args.path)
        async with claim(world, args.path, locate) as place:
            check_editable(place, name)
            try:
                data = await world.files.read(place.path)
            except OSError as error:
                raise trouble(args.path, error) from error
            edited = await to_thread.run_sync(
                apply_edits, data, args.edits, name, abandon_on_cancel=True
            )
            written = await world.files.write(
                place.path,
                edited.data,
                label=f"edit {name}",
                base=data,
                call_id=tool_run.call_id,
            )
        notes = [_done(name, edited), *_how(edited), written.note, place.note]
        details: dict[str, JsonValue] = {
            "diff": edited.diff,
            "firstChangedLine": edited.first_changed_line,
        }
        if len(edited.patch) <= MAX_SHOWN:  # half a patch is none
            details["patch"] = edited.patch
        return ToolOutput.text("\n".join(note for note in notes if note), details=details)

    return Tool(
        "edit",
        "Edit",
        "edit",
        DESCRIPTION,
        EditArgs,
        typed(EditArgs, run),
        SNIPPET,
        GUIDELINES,
        prepare=edit_shape,
    )


def check_editable(place: Place, name: str) -> None:
    """A ToolError for what is no file."""
    if place.kind != "file":
        raise ToolError((FOLDER if place.kind == "dir" else NOT_PLAIN).format(path=name))


def apply_edits(data: bytes, edits: Sequence[Edit], name: str = "the file") -> Edited:
    """The file with all edits made, or a ToolError that says why not; `name` is for its words."""
    if not edits:
        raise ToolError(NO_EDITS)
    if kind := binary_kind(data):
        raise ToolError(BINARY.format(path=name, kind=kind))
    text = data.decode("utf-8", "surrogateescape")
    bom = BOM if text.startswith(BOM) else ""
    view = View(text.removeprefix(BOM))
    pairs = [(_given(edit.old_text, bom), _given(edit.new_text, bom)) for edit in edits]
    for index, (old, _) in enumerate(pairs):
        if not old:
            raise ToolError(EMPTY_OLD.format(edit=_label(index, len(pairs))))
        if half := FOREIGN.search(edits[index].new_text):
            label = _label(index, len(pairs)).replace("oldText", "newText")
            raise ToolError(HALF.format(edit=label, at=half.start() + 1))
    spots = [
        _only(view, old, new, _label(index, len(pairs)), name)
        for index, (old, new) in enumerate(pairs)
    ]
    changes = _changes(view, spots, pairs, name)
    found = blocks(view, changes)
    whole = merged(found)
    return Edited(
        (bom + apply(view.text, changes)).encode("utf-8", "surrogateescape"),
        tuple(spot.how for spot in spots),
        tuple(block.at + 1 for block in found),
        numbered(view, whole),
        patch(view, whole, name),
    )


def _only(view: View, old: str, new: str, label: str, name: str) -> Spot:
    spots = find_spots(view, old)
    if not spots:
        raise missed(view, old, new, label, name)
    if len(spots) > 1:
        raise several(view, spots, label, name)
    return spots[0]


def _changes(
    view: View, spots: Sequence[Spot], pairs: Sequence[tuple[str, str]], name: str
) -> list[Change]:
    """The changes in the order of the file, without those that change nothing."""
    order = sorted(range(len(spots)), key=lambda index: spots[index].start)
    for a, b in pairwise(order):
        if spots[b].start < spots[a].end:
            end = min(spots[a].end, spots[b].end)
            first, last = view.line_at(spots[b].start) + 1, view.line_at(end - 1) + 1
            lines = f"line {first}" if first == last else f"lines {first}-{last}"
            raise ToolError(OVERLAP.format(a=a, b=b, lines=lines, path=name))
    changes = []
    for index in order:
        spot = spots[index]
        new = replacement(view, spot, *pairs[index])
        if new != view.text[spot.start : spot.end]:
            changes.append(Change(spot.start, spot.end, new))
    if not changes:
        raise ToolError(NO_CHANGE.format(path=name))
    return changes


def _given(text: str, bom: str) -> str:
    """A text of the model: whole characters, LF, and no mark where the file has its own."""
    return EOL.sub("\n", well_formed(text.removeprefix(bom)))


def _label(index: int, count: int) -> str:
    return "oldText" if count == 1 else f"edits[{index}].oldText"


def _done(name: str, edited: Edited) -> str:
    count = len(edited.lines)
    lines = ("line " if count == 1 else "lines ") + ", ".join(map(str, edited.lines[:20]))
    return DONE.format(path=name, blocks=plural(len(edited.how), "block"), lines=lines)


def _how(edited: Edited) -> list[str]:
    forms: dict[How, str] = {"looks": BY_LOOKS, "indent": BY_INDENT}
    return [
        forms[how].format(edit=_label(index, len(edited.how)))
        for index, how in enumerate(edited.how)
        if how in forms
    ]
