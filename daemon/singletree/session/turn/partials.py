"""What was streamed survives: the text of an unfinished answer, beside the session.

While an answer streams, its parts are written to one small file: `FIRST` seconds after it began,
then once in `EVERY` seconds, and without a line in the session file. When the answer is an entry,
the file goes; after a crash the next open finds it and turns it into an aborted answer. Never knows
the tree. Read next: recorder.py (who keeps it), ../session.py (who takes it up).
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from singletree.errors import or_session_error
from singletree.messages import AssistantMessage
from singletree.pathtext import LONG, read_plain
from singletree.private import make_private, put_whole
from singletree.session.files import put_aside

FIRST, EVERY = 0.1, 0.5
"""Seconds: a reader sees a text at most this much sooner than the disk does, plus one write."""

NOT_KEPT = "The text that streams could not be kept in {path}: {why}. A crash would lose it."


def read_partial(path: Path) -> tuple[str, AssistantMessage] | None:
    """The entry id and the answer that a crash left, or None. What cannot be read is put aside."""
    try:
        raw = json.loads(read_plain(path, LONG))
        return str(raw["id"]), AssistantMessage.model_validate(raw["message"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        put_aside(path)
        return None


def write_partial(path: Path, entry_id: str, message: AssistantMessage) -> None:
    """Replace the file, at once or not at all. Call it in a worker thread."""
    body = json.dumps({"id": entry_id, "message": message.dump()}, ensure_ascii=False)
    with or_session_error(NOT_KEPT, path):
        make_private(path.parent)
        with put_whole(path) as out:
            out.write(body.encode("utf-8", "replace"))


def drop_partial(path: Path) -> None:
    """The answer is an entry now. A copy that stays is known by its id at the next open."""
    with contextlib.suppress(OSError):
        path.unlink()
