"""A session as texts that an editor shows: what was said, the tree, one entry.

Each is bounded, for an editor asks for it again and again; of a long conversation the end is shown,
and of a large tree what is around the leaf. Text people read stands in the constants. Pure; reads
the file, so call it in a worker thread. Read next: markdown.py (how entries are told).
"""

from __future__ import annotations

from typing import Final

from singletree.excerpt import cut
from singletree.export.markdown import head, marked
from singletree.export.title import title_of
from singletree.history.entries import Entry
from singletree.history.outline import Row
from singletree.history.reading import Reading

ROOM: Final = 170_000
"""Characters of a text; whatever they are, escaped they fit a message."""
ROWS: Final = 1000
PREVIEW: Final = 90
DEEPEST: Final = 24

EARLIER: Final = "*[The beginning is left out here; the command agent.export writes all of it.]*\n"
MORE: Final = "[… {count} more characters are left out here]"
TOP: Final = "{title}\n\n*  what the model sees   >  where the session goes on\n"
ABOVE: Final = "[… rows above are left out here]\n"
BELOW: Final = "[… rows below are left out here]\n"


def transcript(history: Reading) -> str:
    """What was said on the branch the model sees, as Markdown."""
    ids, room = history.tree.index.ids, ROOM
    told: list[str] = []
    rows = history.tree.path_rows(history.tree.leaf_row)
    for row in reversed(rows):
        piece = "".join(
            f"{block}\n"
            for entry in history.entries(ids=[ids[row]]).entries
            for block in marked(entry, history)
        )
        room -= len(piece)
        if room < 0:
            told.append(f"{EARLIER}\n" + (bounded(piece) if not told else ""))
            break
        told.append(piece)
    return "".join(f"{block}\n" for block in head(history)) + "".join(reversed(told))


def tree(history: Reading) -> str:
    """The whole tree, an entry a line, its id in front."""
    page = history.rows("default", around=history.leaf, limit=ROWS)
    lines = [TOP.format(title=title_of(history))]
    lines += [ABOVE] if page.previous is not None else []
    lines += [_line(row) for row in page.rows]
    lines += [BELOW] if page.next is not None else []
    return "\n".join(lines) + "\n"


def one(entry: Entry, history: Reading) -> str:
    """One entry as Markdown; empty for what only the session itself needs."""
    return "\n".join(marked(entry, history))


def bounded(text: str) -> str:
    """The beginning of a text, and how much is not shown."""
    over = len(text) - ROOM
    return text if over <= 0 else f"{text[:ROOM]}\n{MORE.format(count=over)}\n"


def _line(row: Row) -> str:
    mark = ">" if row.is_leaf else "*" if row.on_path else " "
    who = row.role or row.type
    label = f" [{row.label}]" if row.label else ""
    preview = cut(row.preview, PREVIEW)
    return f"{mark} {row.entry_id}  {'  ' * min(row.depth, DEEPEST)}{who}: {preview}{label}"
