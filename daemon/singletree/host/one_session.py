"""What the command line can tell of one session: `singletree sessions export ID`.

Never opens a session for writing. Read next: exports.py, report.py (which lists them).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from singletree.errors import UnknownSession
from singletree.history.store import History, Store
from singletree.host.exports import pieces, save
from singletree.host.places import agent_dir

Command = Callable[[Sequence[str], Mapping[str, str]], Iterator[str]]


def export(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The text, or where it is."""
    parser = argparse.ArgumentParser(prog="singletree sessions export")
    parser.add_argument("id", help="the session's id, or its beginning")
    parser.add_argument("--format", choices=("html", "md", "jsonl"), default="html")
    parser.add_argument("--output", help="a file; else the text goes to the screen")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    given = parser.parse_args(arguments)
    history = looked_at(given.id, environment)
    try:
        if given.output is None:
            yield from (piece.removesuffix("\n") for piece in pieces(history, given.format))
        else:
            target = str(Path(given.output).absolute())
            yield str(save(history, given.format, target, replace=given.force))
    finally:
        history.close()


def looked_at(beginning: str, environment: Mapping[str, str]) -> History:
    """The session whose id begins so, for reading."""
    store = Store(agent_dir(environment))
    found = store.ids(beginning)
    if len(found) > 1:
        raise UnknownSession(f"{len(found)} sessions have an id that begins with {beginning}.")
    return store.open_id(found[0] if found else beginning, read_only=True)


COMMANDS: dict[str, Command] = {"export": export}
EPILOG = "Of one session: singletree sessions export ID."
