"""What the command line can tell of one session: `singletree sessions export ID`, `… xray ID`.

Never opens a session for writing. Read next: exports.py, look.py, report.py (which lists them).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from singletree.context.left_out import Part
from singletree.errors import UnknownSession
from singletree.history.store import History, Store
from singletree.host.exports import pieces, save
from singletree.host.look import sight_of
from singletree.host.places import agent_dir
from singletree.session.tree.xray import Sight, earlier

_BATCH = 500
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


def xray(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Every part of what the model would see with its tokens, and what is left out and why."""
    parser = argparse.ArgumentParser(prog="singletree sessions xray")
    parser.add_argument("id", help="the session's id, or its beginning")
    parser.add_argument("--leaf", metavar="ENTRY", help="at this entry, not where it stands now")
    given = parser.parse_args(arguments)
    history = looked_at(given.id, environment)
    try:
        seen = sight_of(history, environment, given.leaf)
        model = "/".join(seen.xray.model or ("no model yet",))
        where = seen.leaf_id or "before its first entry"
        yield f"Session {history.id} at {where}: {model}, thinking {seen.xray.thinking}"
        yield ""
        yield from map(_line, seen.xray.parts)
        yield f"{seen.xray.tokens:>9,}  in all{_room(seen)}"
        if not seen.rules:
            return
        yield ""
        yield "Left out:"
        yield from map(_line, seen.xray.left_out)
        for start in range(0, len(seen.earlier), _BATCH):
            yield from map(_line, earlier(history, seen.earlier[start : start + _BATCH]))
    finally:
        history.close()


def _line(part: Part) -> str:
    rule = f"[{part.left_out}] " if part.left_out else ""
    return (
        f"{part.tokens:>9,}  {part.entry_id or '':<8}  {rule}{part.kind}  {part.preview}".rstrip()
    )


def _room(seen: Sight) -> str:
    if seen.limits is None:
        return ""
    above = seen.window - seen.limits.reserve
    how = "compacts above" if seen.limits.enabled else "would compact above"
    return f" of a window of {seen.window:,}; {how} {above:,}"


def looked_at(beginning: str, environment: Mapping[str, str]) -> History:
    """The session whose id begins so, for reading."""
    store = Store(agent_dir(environment))
    found = store.ids(beginning)
    if len(found) > 1:
        raise UnknownSession(SEVERAL.format(count=len(found), beginning=beginning))
    return store.open_id(found[0] if found else beginning, read_only=True)


SEVERAL = "{count} sessions have an id that begins with {beginning}; give more of it."
COMMANDS: dict[str, Command] = {"export": export, "xray": xray}
EPILOG = "Of one session: singletree sessions export ID, singletree sessions xray ID."
