"""Taking edits of the agent back, newest first; what has changed since is left alone.

Goes through the same files as the tools: an open document is changed in its editor. Never records
what it does as an edit. Read next: ledger.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from singletree.errors import SingletreeError, ToolError
from singletree.session.edits.edit import Edit
from singletree.session.edits.ledger import Ledger
from singletree.tools.world import Files, World

STALE = "{path} has changed since, so it was left as it is."
NOT_KEPT = "The text of {path} before this edit was too large to be kept."
NO_EDIT = "There is no edit {id} in this session."


@dataclass(frozen=True, slots=True)
class Refusal:
    """An edit that stays, and why."""

    edit: Edit
    code: str
    message: str


async def revert(
    ledger: Ledger, world: World, edits: Sequence[Edit]
) -> tuple[list[Edit], list[Refusal]]:
    """Take these back; what was, and what was not."""
    done: list[Edit] = []
    refused: list[Refusal] = []
    for edit in reversed(edits):
        async with world.lock(Path(edit.path)):
            refusal = await _take_back(ledger, world.files, edit)
        if refusal is None:
            await ledger.undone(edit)
            done.append(edit)
        else:
            refused.append(refusal)
    return done, refused


def chosen(
    edits: Sequence[Edit],
    *,
    turn_id: str | None = None,
    file: Collection[str] | None = None,
    ids: Collection[str] | None = None,
) -> list[Edit]:
    """The edits that can be taken back: of a turn, of a file (its names), or by id."""
    known = {edit.id for edit in edits}
    for id in ids or ():
        if id not in known:
            raise SingletreeError(NO_EDIT.format(id=id), code="not_found")
    return [
        edit
        for edit in edits
        if edit.status == "landed"
        and turn_id in (None, edit.turn_id)
        and (file is None or edit.uri in file or edit.path in file)
        and (ids is None or edit.id in ids)
    ]


async def content(files: Files, path: Path) -> bytes | None:
    """What is there; None if nothing is. OSError where it cannot be read."""
    try:
        return await files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


async def _take_back(ledger: Ledger, files: Files, edit: Edit) -> Refusal | None:
    path = Path(edit.path)
    try:
        now = await content(files, path)
        if edit.found(now):
            return None  # somebody has taken it back already
        if not edit.left(now):
            return Refusal(edit, "stale", STALE.format(path=path))
        if not edit.kept:
            return Refusal(edit, "not_found", NOT_KEPT.format(path=path))
        if edit.created:
            await files.remove(path)
            await anyio.to_thread.run_sync(_drop_empty, edit.folders)
        else:
            before = await ledger.text_before(edit)
            await files.write(path, before, label=f"undo {path.name}", base=now)
    except (ToolError, OSError) as error:
        return Refusal(edit, "stale", str(error))
    return None


def _drop_empty(folders: Sequence[str]) -> None:
    """Remove the folders that were made for a file, as far as they are empty."""
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except OSError:
            return
