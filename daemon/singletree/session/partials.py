"""What was streamed survives: the text of an unfinished answer, beside the session.

While an answer streams, its parts are written to one small file, at most once in `EVERY` seconds
and without a line in the session file. When the answer is an entry, the file goes; after a crash
the next open finds it and turns it into an aborted answer. Never knows the tree.
Read next: session.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import ValidationError

from singletree.errors import SessionError
from singletree.messages import AssistantMessage

EVERY = 0.5
"""Seconds: a reader sees a text at most this much sooner than the disk does, plus one write."""


def read_partial(path: Path) -> tuple[str, AssistantMessage] | None:
    """The entry id and the answer that a crash left, or None. A damaged file is kept aside."""
    try:
        raw = json.loads(path.read_bytes())
        return str(raw["id"]), AssistantMessage.model_validate(raw["message"])
    except OSError:
        return None  # nothing there, or nothing that can be read now: it stays where it is
    except (ValueError, KeyError, TypeError, ValidationError):
        path.replace(path.with_suffix(".damaged"))
        return None


def write_partial(path: Path, entry_id: str, message: AssistantMessage) -> None:
    """Replace the file, at once or not at all. Call it in a worker thread."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    body = json.dumps({"id": entry_id, "message": message.dump()}, ensure_ascii=False)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(body.encode("utf-8", "replace"))
    except OSError as error:
        raise SessionError(f"The streamed text cannot be kept in {path}: {error}") from error
    fresh.replace(path)


def drop_partial(path: Path) -> None:
    """The answer is an entry now."""
    path.unlink(missing_ok=True)
