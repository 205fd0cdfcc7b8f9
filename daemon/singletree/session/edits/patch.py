"""What one turn changed in files, as a patch: each file from before its first edit to its last.

The text behind an edit is not kept; it is that before the next edit of the file, or what the file
holds now if nobody has touched it since. Where it is neither, the patch says so. Never changes
anything. Read next: ledger.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from singletree.errors import ToolError
from singletree.session.edits.edit import Edit, plain
from singletree.session.edits.ledger import Ledger
from singletree.session.edits.revert import content
from singletree.tools.compare import unified
from singletree.tools.world import Files

LONGEST: Final = 2_000_000
"""Characters of both texts together up to which they are compared."""
UNKNOWN: Final = "# {name} has changed since, or is too large to compare."
NO_TEXT: Final = "# {name} is no text."


async def turn_patch(
    edits: Sequence[Edit], turn_id: str, ledger: Ledger, files: Files, cwd: Path
) -> str | None:
    """The patch; None for a turn without edits. `edits`: all of the session, oldest first."""
    landed = [edit for edit in edits if edit.status == "landed"]
    paths = dict.fromkeys(edit.path for edit in landed if edit.turn_id == turn_id)
    if not paths:
        return None
    parts: list[str] = []
    for path in paths:
        of_file = [edit for edit in landed if edit.path == path]
        mine = [at for at, edit in enumerate(of_file) if edit.turn_id == turn_id]
        name = _name(path, cwd)
        before = await _before(of_file[mine[0]], ledger)
        after = await _after(of_file[mine[0] : mine[-1] + 2], len(mine), ledger, files)
        parts.append(await anyio.to_thread.run_sync(_compared, name, before, after))
    return "".join(parts)


async def _before(edit: Edit, ledger: Ledger) -> bytes | None:
    """The text before an edit; empty where there was no file, None where it was not kept."""
    if edit.created:
        return b""
    try:
        return await ledger.text_before(edit)
    except OSError:
        return None


async def _after(edits: Sequence[Edit], count: int, ledger: Ledger, files: Files) -> bytes | None:
    """The text behind the last of the first `count` edits; what follows them comes behind."""
    last, *later = edits[count - 1 :]
    if later:
        found = await _before(later[0], ledger)
    else:
        try:
            found = await content(files, Path(last.path))
        except (OSError, ToolError):  # too large by now, or a link on the way was turned
            found = None
    return found if last.left(found) else None


def _compared(name: str, before: bytes | None, after: bytes | None) -> str:
    if before is None or after is None or len(before) + len(after) > LONGEST:
        return UNKNOWN.format(name=name) + "\n"
    try:
        old, new = plain(before).decode(), plain(after).decode()
    except UnicodeDecodeError:
        return NO_TEXT.format(name=name) + "\n"
    return "".join(_patch(name, old, new))


def _patch(name: str, old: str, new: str) -> Iterator[str]:
    return unified(_lines(old), _lines(new), f"a/{name}" if old else "/dev/null", f"b/{name}")


def _lines(text: str) -> list[str]:
    """Lines with their ends; only LF ends one."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _name(path: str, cwd: Path) -> str:
    try:
        return str(Path(path).relative_to(cwd))
    except ValueError:
        return path
