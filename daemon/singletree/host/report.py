"""What can be told without a session: the sessions there are. Behind `singletree sessions`.

Never opens a session for writing. Read next: one_session.py, ../history/store.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from singletree.history.lock import held_by
from singletree.history.store import Store
from singletree.host.doorbell import holder
from singletree.host.one_session import COMMANDS, EPILOG
from singletree.host.places import agent_dir, here, shared_socket
from singletree.host.shared import told


def sessions(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The lines of `singletree sessions [--all] [--recover FILE] [WORDS]`, or of one session."""
    if arguments and arguments[0] in ("list", "search"):  # what comes to mind first
        arguments = arguments[1:]
    elif arguments and (command := COMMANDS.get(arguments[0])):
        yield from command(arguments[1:], environment)
        return
    parser = argparse.ArgumentParser(prog="singletree sessions", epilog=EPILOG)
    parser.add_argument("--all", action="store_true", help="of every folder")
    parser.add_argument("--recover", metavar="FILE", help="copy what can be read of a damaged file")
    parser.add_argument("words", nargs="*", help="only sessions in which these stand")
    given = parser.parse_args(arguments)
    cwd = None if given.all else str(here())
    store = Store(agent_dir(environment))
    if given.recover is not None:
        yield _recovered(store, Path(given.recover).absolute())
        return
    words = " ".join(given.words)
    page = store.list(cwd, words or None, 100)
    if not page.sessions:
        yield _none(cwd, words)
    for one in page.sessions:
        when = datetime.fromtimestamp(one.updated_at / 1000).strftime("%Y-%m-%d %H:%M")
        where = f"  {one.cwd}" if given.all else ""
        opened = _opened(agent_dir(environment), one.id)
        what = f"{one.name or one.preview}{opened}{where}"
        yield f"{one.id}  {when}  {one.entry_count:>5} entries  {what}"
    if holder(socket := shared_socket(environment)) is not None:
        yield f"Shared daemon: {told(socket)}"


def _opened(folder: Path, session_id: str) -> str:
    """Whether somebody has the session open at this moment."""
    pid = held_by(folder / "singletree" / "locks", session_id)
    return "" if pid is None else f"  (open in process {pid})"


def _none(cwd: str | None, words: str) -> str:
    """What is said where no session was found."""
    where = f" of {cwd}" if cwd else ""
    which = f" with {words!r} in it" if words else ""
    more = "; --all looks in every folder" if cwd else ""
    return f"No session{where}{which}{more}."


def _recovered(store: Store, path: Path) -> str:
    """Make a session of this folder of what can be read of a file, and name it."""
    history = store.rescue(path, str(here()))
    try:
        count = history.entry_count
        return f"Recovered {count} entries of {path} into session {history.id} of this folder."
    finally:
        history.close()
