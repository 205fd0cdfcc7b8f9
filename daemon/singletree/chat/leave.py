"""The commands about what the agent may do here, and what it has done to files. Standard library.

Read next: talk.py, commands.py.
"""

from __future__ import annotations

from singletree.chat.link import Object, number, rows, text
from singletree.chat.screen import one_line
from singletree.chat.talk import Misused, Talk

MODES = ("ask", "acceptEdits", "readOnly", "allowAll")
TRUST: Object = {"yes": True, "no": False, "forget": None}


def mode(talk: Talk, rest: str) -> None:
    """Show what is asked for before it is done, or choose it."""
    if rest and rest not in MODES:
        raise Misused(f"There is no mode {one_line(rest)}; there are {', '.join(MODES)}.")
    if rest:
        told = talk.ask("agent/permission/setMode", {"mode": rest})
        talk.screen.say(f"→ mode {text(told, 'mode')}", "cyan")
    else:
        told = talk.ask("agent/permission/list", {})
        talk.screen.say(f"mode {text(told, 'mode')} (of: {' '.join(MODES)})")


def rules(talk: Talk, rest: str) -> None:
    """Show the answers that are remembered, or forget some of them."""
    word, *ids = rest.split() or [""]
    if word == "forget" and ids:
        talk.ask("agent/permission/remove", {"ids": [*ids]})
        talk.screen.say(f"→ forgotten: {' '.join(ids)}", "cyan")
    elif word:
        raise Misused("/rules shows what is remembered, /rules forget ID takes it back.")
    else:
        listed = rows(talk.ask("agent/permission/list", {}), "rules")
        for rule in listed:
            what = f"{text(rule, 'decision')} {text(rule, 'tool')}: {text(rule, 'pattern')}"
            used = f"{text(rule, 'scope')}, used {number(rule, 'uses'):.0f} times"
            talk.screen.row(f"{text(rule, 'id')} {one_line(what)} ({used})")
        if not listed:
            talk.screen.say("No answer is remembered here.")


def undo(talk: Talk, rest: str) -> None:
    """Take back what the last turn that changed files did to them."""
    listed = rows(talk.ask("agent/edits/list", {}), "edits")
    turns = [text(edit, "turnId") for edit in listed if not edit.get("undone")]
    if not turns:
        raise Misused("There is no edit to take back.")
    told = talk.ask("agent/edits/revert", {"turnId": turns[-1]})
    done = told.get("reverted")
    count = len(done) if isinstance(done, list) else 0
    talk.screen.say(f"→ {count} {'edit' if count == 1 else 'edits'} taken back", "cyan")
    for refused in rows(told, "refused"):
        talk.screen.warn(text(refused, "message"))


def trust(talk: Talk, rest: str) -> None:
    """Trust the folder, or no more."""
    if rest not in TRUST:
        raise Misused("Trust this folder? /trust yes, /trust no, or /trust forget")
    told = talk.ask("agent/trust/set", {"trusted": TRUST[rest]})
    talk.screen.say("→ trusted" if told.get("trusted") else "→ not trusted", "cyan")
    for row in rows(told, "skipped"):
        talk.screen.row(f"  left aside: {one_line(text(row, 'path'))}", "dim")
