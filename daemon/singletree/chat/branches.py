"""The commands that walk in the tree of a session. Standard library. Read next: talk.py."""

from __future__ import annotations

from singletree.chat.link import Object, number, rows, text
from singletree.chat.screen import one_line
from singletree.chat.talk import Misused, Talk

WHO = {"user": "you", "assistant": "agent", "toolResult": "tool", "bashExecution": "command"}
FILTERS = ("default", "noTools", "userOnly", "labeled", "all")


def tree(talk: Talk, rest: str) -> None:
    """Show the tree: all of it, through a filter, or what holds a text."""
    asked: Object = {"filter": rest} if rest in FILTERS else {"search": rest} if rest else {}
    found = _rows(talk, asked)
    for row in found:
        talk.screen.row(_drawn(row), "bold" if row.get("isLeaf") else "")
    if rest and not found:
        talk.screen.say(f"No entry with {one_line(rest)}. Filters: {', '.join(FILTERS)}.")
    elif not found:
        talk.screen.say("Nothing was said yet.")


def _rows(talk: Talk, asked: Object) -> list[Object]:
    found: list[Object] = []
    cursor: Object = {}
    while True:
        told = talk.ask("agent/tree/get", {**asked, **cursor})
        found += rows(told, "rows")
        if not text(told, "next"):
            return found
        cursor = {"cursor": text(told, "next")}


def _drawn(row: Object) -> str:
    here = "●" if row.get("isLeaf") else "│" if row.get("onPath") else " "
    mark = f" [{text(row, 'label')}]" if text(row, "label") else ""
    indent = "  " * int(number(row, "depth"))
    said = f"{who(row)}{mark}: {one_line(text(row, 'preview'))}"
    return f"{here} {text(row, 'entryId')} {indent}{said}"


def who(row: Object) -> str:
    """Whose an entry or a message is, in a word."""
    kind = text(row, "role") or text(row, "type")
    return WHO.get(kind, kind.replace("_", " "))


def _entry(talk: Talk, beginning: str) -> str:
    """The id of the one entry whose id begins so."""
    if not beginning:
        raise Misused("Which entry? /tree shows their ids.")
    ids = [text(row, "entryId") for row in _rows(talk, {"filter": "all"})]
    found = [i for i in ids if i == beginning] or [i for i in ids if i.startswith(beginning)]
    if len(found) != 1:
        how = "No entry" if not found else "More than one entry"
        raise Misused(f"{how} begins {one_line(beginning)}. /tree shows their ids.")
    return found[0]


def goto(talk: Talk, rest: str) -> None:
    """Go on from another entry, with or without a summary of what is left."""
    beginning, _, how = rest.partition(" ")
    asked: Object = {"entryId": _entry(talk, beginning)}
    if how.split(" ")[0] == "summary":
        instructions = how.partition(" ")[2].strip()
        asked["summarize"] = {"instructions": instructions} if instructions else True
    told = talk.ask("agent/tree/navigate", asked)
    talk.screen.say(f"→ now at {text(told, 'leafId') or 'the beginning'}", "cyan")
    _suggest(talk, text(told, "editorText"))


def _suggest(talk: Talk, words: str) -> None:
    """A text that came back: into the input where there is one, else shown."""
    talk.suggestion = words
    if words:
        talk.screen.say(f"↩ {words}", "dim")


def label(talk: Talk, rest: str) -> None:
    """Put a bookmark on an entry, or take it away."""
    beginning, _, words = rest.partition(" ")
    entry, mark = _entry(talk, beginning), words.strip()
    talk.ask("agent/tree/label", {"entryId": entry, "label": mark or None})
    talk.screen.say(f"→ {entry} [{mark}]" if mark else f"→ {entry}: no label")


def fork(talk: Talk, rest: str) -> None:
    """A session of its own that begins with the path up to an entry."""
    beginning, _, position = rest.partition(" ")
    entry = (
        _entry(talk, beginning)
        if beginning
        else text(talk.ask("agent/session/state", {}), "leafId")
    )
    if not entry:
        raise Misused("Nothing was said yet.")
    where = position or ("before" if beginning else "at")
    told = talk.ask("agent/session/fork", {"entryId": entry, "position": where})
    talk.attach("agent/session/switch", {"sessionId": text(told, "sessionId")})
    talk.screen.say(f"→ forked: {text(told, 'sessionId')}", "cyan")
    _suggest(talk, text(told, "editorText"))
