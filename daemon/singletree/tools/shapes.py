"""Arguments under the names and in the shapes that other tools have taught models.

Only what can have one meaning is reshaped; the rest is left for the check to refuse. Never knows
what a tool does with them. Read next: edit.py (whose arguments come in most shapes).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

_PATH = ("file_path", "filePath", "filename", "file")
_CONTENT = ("contents", "text", "file_text")
_OLD = ("old_text", "old_string", "oldString", "old_str")
_NEW = ("new_text", "new_string", "newString", "new_str")

Arguments = Mapping[str, JsonValue]


def path_shape(raw: Arguments) -> Arguments:
    """A path under another name."""
    return _renamed(raw, path=_PATH)


def write_shape(raw: Arguments) -> Arguments:
    """A path and a content under other names."""
    return _renamed(raw, path=_PATH, content=_CONTENT)


def edit_shape(raw: Arguments) -> Arguments:
    """One edit without a list, or beside it; a list or an edit as JSON in a string."""
    shaped = _edit_names(_renamed(raw, path=_PATH))
    edits = shaped.pop("edits", None)
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError):
            edits = [edits]
    if isinstance(edits, dict):
        edits = [edits]
    if isinstance(edits, list):
        edits = [_edit_names(edit) if isinstance(edit, dict) else edit for edit in edits]
    old, new = shaped.pop("oldText", None), shaped.pop("newText", None)
    if old is not None and new is not None:
        edits = [*(edits if isinstance(edits, list) else []), {"oldText": old, "newText": new}]
    return shaped if edits is None else {**shaped, "edits": edits}


def _edit_names(raw: Arguments) -> dict[str, JsonValue]:
    return _renamed(raw, oldText=_OLD, newText=_NEW)


def _renamed(raw: Arguments, **names: tuple[str, ...]) -> dict[str, JsonValue]:
    """A copy where a missing name is taken from the first of the others that is there."""
    shaped = dict(raw)
    for name, others in names.items():
        for other in others:
            if name not in shaped and other in shaped:
                shaped[name] = shaped.pop(other)
    return shaped
