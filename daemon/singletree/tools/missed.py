"""The words for a text that is not in a file, or in it more than once: what to do next.

Never changes or finds a spot. Read next: nearest.py (the guess), edit.py (who raises these).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from singletree.errors import ToolError
from singletree.tools.looks import shown
from singletree.tools.match import MANY, Spot, View, find_spots
from singletree.tools.nearest import Near, nearest
from singletree.tools.truncate import cut_line

NOT_FOUND = "{edit} is not in {path}. Nothing was changed.{done}{near}"
DONE = " The new text is there already, in line {line}: perhaps this was changed before."
NOTHING_NEAR = " Nothing in the file is like it: read the file, and copy oldText from it."
NEAR = (
    " The nearest is {lines}; the first difference is in line {line}:\n"
    "  file:    {here}\n"
    "  oldText: {given}"
)
THERE = "\n{lines} of the file:\n{text}"
SEVERAL = (
    "{edit} is in {path} {count} times: in {lines}. Nothing was changed."
    " Add lines from before or after it, so that it fits only one place."
)

MAX_LINES = 12
MAX_PLACES = 10
MAX_WIDTH = 200


def missed(view: View, old: str, new: str, label: str, name: str) -> ToolError:
    """Not found: the nearest place, or that the new text is there already."""
    done = ""
    if new.strip() and (spots := find_spots(view, new)):
        done = DONE.format(line=view.line_at(spots[0].start) + 1)
    near = nearest(view, old)
    said = _near(view, near) if near else NOTHING_NEAR * (not done)
    return ToolError(NOT_FOUND.format(edit=label, path=name, done=done, near=said))


def several(view: View, spots: Sequence[Spot], label: str, name: str) -> ToolError:
    """Found more than once: where."""
    numbers = list(dict.fromkeys(view.line_at(spot.start) + 1 for spot in spots))
    lines = ("line " if len(numbers) == 1 else "lines ") + ", ".join(map(str, numbers[:MAX_PLACES]))
    lines += " and more" if len(numbers) > MAX_PLACES else ""
    count = f"at least {MANY}" if len(spots) == MANY else len(spots)
    return ToolError(SEVERAL.format(edit=label, path=name, count=count, lines=lines))


def _near(view: View, near: Near) -> str:
    last = min(near.last, near.first + MAX_LINES - 1)
    rows = [view.content(index) for index in range(near.first - 1, last)]
    text = "\n".join(_cut(shown(row)) for row in rows)
    said = NEAR.format(
        lines=_lines(near.first, near.last),
        line=near.line,
        here=_quoted(near.here),
        given=_quoted(near.given),
    )
    shown_lines = _lines(near.first, last).capitalize()
    return said + (THERE.format(lines=shown_lines, text=text) if len(rows) > 1 else "")


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _quoted(line: str) -> str:
    """Tabs and blanks at the ends must be seen."""
    return json.dumps(_cut(shown(line)), ensure_ascii=False)


def _cut(line: str) -> str:
    kept, was_cut = cut_line(line, MAX_WIDTH)
    return f"{kept}…" if was_cut else kept
