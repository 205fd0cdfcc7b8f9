"""A session taken out: as a text, or as a file that replaces nothing unless it is told to.

Never opens a session for writing. Slow for a large one: call it in a worker thread. Read next:
../export/ (what the texts are).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from singletree.errors import SessionError
from singletree.export.lines import json_lines
from singletree.export.markdown import markdown
from singletree.export.page import html_page
from singletree.history.names import same_folder
from singletree.history.record import History
from singletree.messages import well_formed
from singletree.pathtext import at_home, is_there
from singletree.private import put_whole

Format = Literal["jsonl", "md", "html"]

NO_PATH = "The path holds characters that no file name can have."
EXISTS = "There is a file {path} already; name another one, or replace it (`replace`, --force)."
SESSIONS = "{path} stands among the sessions, whose files are never replaced; name another one."
NOT_WRITTEN = "The export could not be written to {path}: {why}."
TOO_LONG = "The export is too long for one message; name a file for it."


def pieces(history: History, form: Format) -> Iterator[str]:
    """The text in pieces, each with its line feed."""
    match form:
        case "jsonl":
            made = json_lines(history)
        case "md":
            made = markdown(history)
        case "html":
            made = html_page(history)
    for piece in made:
        if piece:
            yield f"{piece}\n"


def text(history: History, form: Format, limit: int) -> str:
    """The whole text, if it is not longer than so many characters."""
    room = limit
    made: list[str] = []
    for piece in pieces(history, form):
        room -= len(piece)
        if room < 0:
            raise SessionError(TOO_LONG, code="unsupported")
        made.append(piece)
    return "".join(made)


def save(history: History, form: Format, given: str, *, replace: bool = False) -> Path:
    """Write the text into a file, which is there whole or not at all: its path.

    A path that is no whole one is meant from the session's folder.
    """
    if "\0" in given or well_formed(given) != given:
        raise SessionError(NO_PATH, code="input_rejected")
    path = Path(history.header.cwd, at_home(given))
    try:
        if is_there(path):
            among = same_folder(str(path.parent), str(history.file.parent))
            if among or not replace:
                text = SESSIONS if among else EXISTS
                raise SessionError(text.format(path=path), detail={"path": str(path)})
        with put_whole(path) as out:
            out.writelines(piece.encode("utf-8", "replace") for piece in pieces(history, form))
    except OSError as error:
        why = error.strerror or "it failed"
        raise SessionError(
            NOT_WRITTEN.format(path=path, why=why), detail={"path": str(path)}
        ) from error
    return path
