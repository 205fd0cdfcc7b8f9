"""The slash commands, each a few requests of the protocol. Standard library.

What is not known here is the daemon's: skills, templates and extensions bring commands of their
own, and those are sent as a prompt. Read next: talk.py, branches.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from singletree.chat.branches import fork, goto, label, tree, who
from singletree.chat.leave import mode, rules, trust, undo
from singletree.chat.link import Object, Refused, number, part, pick, rows, said, text
from singletree.chat.screen import cut, one_line, tokens
from singletree.chat.talk import Misused, Quit, Talk

PAST = 300
"""Characters of each of the last words of a session that goes on."""
UNSAID = "(nothing said yet)"
TYPING = """\
While a turn runs, a line you type steers it; /queue TEXT waits for its end.
Ctrl-C stops the turn, twice it leaves. An entry is named by the beginning of its id."""


@dataclass(frozen=True)
class Command:
    """One command: what it does, how it is written, what it is for."""

    run: Callable[[Talk, str], None]
    usage: str
    help: str


def run(talk: Talk, line: str) -> None:
    """Do what a line that begins with a slash says; show what went wrong."""
    name, _, rest = line[1:].partition(" ")
    try:
        if name in COMMANDS:
            COMMANDS[name].run(talk, rest.strip())
        else:
            _foreign(talk, name, line)
    except Refused as no:
        talk.screen.fault(str(no), no.code, no.hint)
        talk.session.failed = True
    except Misused as how:
        talk.screen.fault(str(how))
        talk.session.failed = True


def _foreign(talk: Talk, name: str, line: str) -> None:
    if name not in [text(command, "name") for command in _known(talk)]:
        raise Misused(f"There is no /{one_line(name)}. /help lists what there is.")
    talk.prompt(line)


def _known(talk: Talk) -> list[Object]:
    """The daemon's own commands; one that does not list any has none."""
    try:
        return rows(talk.ask("agent/command/list", {}), "commands")
    except Refused:
        return []


def _help(talk: Talk, rest: str) -> None:
    for command in COMMANDS.values():
        talk.screen.say(f"{command.usage:<30} {command.help}")
    for other in _known(talk):
        if text(other, "name") in COMMANDS:
            continue
        usage = f"/{text(other, 'name')} {text(other, 'inputHint')}".rstrip()
        talk.screen.say(f"{usage:<30} {one_line(text(other, 'description'))}")
    talk.screen.say(TYPING, "dim")


def _compact(talk: Talk, rest: str) -> None:
    talk.ask("agent/compact", {"instructions": rest} if rest else {})


def _model(talk: Talk, rest: str) -> None:
    if rest:
        told = talk.ask("agent/model/set", {"model": rest})
        talk.screen.say(f"→ {text(told, 'model')}, thinking {text(told, 'thinking')}", "cyan")
        return
    told = talk.ask("agent/model/list", {})
    for row in rows(told, "models"):
        here = "●" if text(row, "model") == text(told, "current") else " "
        missing = " (no key)" if text(row, "auth") == "missing" else ""
        window = f"{number(row, 'contextWindow') / 1000:,.0f}k"
        talk.screen.say(f"{here} {text(row, 'model')} · {window}{missing}")


def _thinking(talk: Talk, rest: str) -> None:
    if rest:
        told = talk.ask("agent/thinking/set", {"level": rest})
        said = f"→ thinking {text(told, 'thinking')}. {text(told, 'note')}".removesuffix(". ")
        talk.screen.say(said, "cyan")
        return
    told = talk.ask("agent/thinking/list", {})
    levels = pick(told, "levels")
    shown = " ".join(map(str, levels)) if isinstance(levels, list) else ""
    talk.screen.say(f"thinking {text(told, 'current')} (of: {shown})")


def _steer(talk: Talk, rest: str) -> None:
    if not rest:
        raise Misused("Steer with what? /steer TEXT")
    talk.steer(rest)
    talk.until_settled()


def _queue(talk: Talk, rest: str) -> None:
    if rest == "clear":
        told = talk.ask("agent/queue/clear", {})
        talk.screen.say(f"→ {len(rows(told, 'removed'))} taken out")
    elif rest:
        told = talk.ask("agent/followUp", {"content": rest})
        talk.screen.say(f"↪ {text(told, 'disposition')}: the next turn", "cyan")
        talk.until_settled()
    else:
        items = rows(talk.ask("agent/queue/list", {}), "items")
        for item in items:
            paused = " (paused)" if item.get("paused") else ""
            talk.screen.say(f"{text(item, 'kind')}{paused}: {one_line(said(item))}")
        if not items:
            talk.screen.say("Nothing waits.")


def _bash(talk: Talk, rest: str) -> None:
    if not rest:
        raise Misused("Run what? /bash COMMAND")
    told = talk.ask("agent/bash", {"command": rest})
    if text(told, "output").strip():
        talk.screen.say(text(told, "output").rstrip("\n"))
    if code := number(told, "exitCode"):
        talk.screen.say(f"(exit code {code:.0f})", "yellow")


def _abort(talk: Talk, rest: str) -> None:
    if not talk.session.busy:
        raise Misused("Nothing runs.")
    talk.abort()


def _new(talk: Talk, rest: str) -> None:
    named: Object = {"name": rest} if rest else {}
    talk.attach("agent/session/new", {"workspace": talk.folder, **named})
    talk.screen.say("→ a new session", "cyan")


def _sessions(talk: Talk, rest: str) -> None:
    query: Object = {"query": rest} if rest else {}
    told = talk.ask("agent/session/list", {"workspace": talk.folder, **query})
    for row in rows(told, "sessions"):
        here = "●" if text(row, "sessionId") == talk.session.id else " "
        name = text(row, "name") or text(row, "preview") or UNSAID
        when = text(row, "updatedAt")[:16].replace("T", " ")
        talk.screen.say(f"{here} {text(row, 'sessionId')} {when} {one_line(name)}")


def _switch(talk: Talk, rest: str) -> None:
    told = talk.ask("agent/session/list", {"workspace": talk.folder, "limit": 500})
    found = [text(row, "sessionId") for row in rows(told, "sessions")]
    found = [i for i in found if i.startswith(rest)]
    if not rest:
        raise Misused("Which session? /sessions shows their ids.")
    if len(found) != 1:
        how = "No session" if not found else "More than one session"
        raise Misused(f"{how} begins {one_line(rest)}. /sessions shows their ids.")
    told = talk.attach("agent/session/switch", {"sessionId": found[0]})
    show_past(talk, told)


def _name(talk: Talk, rest: str) -> None:
    told = talk.ask("agent/session/rename", {"name": rest})
    talk.screen.say(f"→ {text(told, 'name') or 'no name'}")


def _usage(talk: Talk, rest: str) -> None:
    told = talk.ask("agent/usage/get", {})
    window = part(told, "contextUsage")
    known = pick(window, "tokens") is not None
    share = f"{number(window, 'percent'):.1f} % of" if known else "unknown part of"
    talk.screen.say(f"window: {share} {number(window, 'window'):,.0f} tokens")
    talk.screen.say(f"session: {tokens(part(told, 'total'))}")
    for row in rows(told, "models"):
        answers = f"{number(row, 'answers'):.0f} answers"
        talk.screen.say(f"  {text(row, 'model')}: {answers}, {tokens(part(row, 'usage'))}")


def _quit(talk: Talk, rest: str) -> None:
    raise Quit


def show_past(talk: Talk, told: Object) -> None:
    """Where a session that goes on stands: its last words."""
    for line in last_words(told):
        talk.screen.say(line, "dim")


def last_words(told: Object) -> list[str]:
    """What was said last in a session that was opened, each in a few lines at most."""
    messages = [part(entry, "message") for entry in rows(told, "history", "entries")[-4:]]
    return [
        f"{who(message)}: {cut(one_line(said(message)), PAST)}"
        for message in messages
        if text(message, "role") in ("user", "assistant") and said(message).strip()
    ]


COMMANDS = {
    "tree": Command(tree, "/tree [FILTER or TEXT]", "the session as a tree"),
    "goto": Command(goto, "/goto ID [summary [WHAT]]", "go on from another entry"),
    "label": Command(label, "/label ID [TEXT]", "put a bookmark on an entry, or take it away"),
    "fork": Command(fork, "/fork [ID [at]]", "a new session from before an entry, or from here"),
    "compact": Command(_compact, "/compact [WHAT]", "sum up the older part now"),
    "model": Command(_model, "/model [PROVIDER/ID]", "list the models, or choose one"),
    "thinking": Command(_thinking, "/thinking [LEVEL]", "list the thinking levels, or choose one"),
    "steer": Command(_steer, "/steer TEXT", "put a text into the running turn"),
    "queue": Command(_queue, "/queue [TEXT or clear]", "what waits; queue a next turn; clear"),
    "bash": Command(_bash, "/bash COMMAND", "run a command yourself; the model sees its output"),
    "abort": Command(_abort, "/abort", "stop the running turn"),
    "new": Command(_new, "/new [NAME]", "a new session"),
    "sessions": Command(_sessions, "/sessions [TEXT]", "the sessions of this folder"),
    "switch": Command(_switch, "/switch ID", "go on with another session"),
    "name": Command(_name, "/name TEXT", "give the session a name"),
    "mode": Command(mode, "/mode [MODE]", "what is asked before it is done"),
    "rules": Command(rules, "/rules [forget ID]", "the answers that are remembered, or forget one"),
    "undo": Command(undo, "/undo", "take back what the last turn changed in files"),
    "trust": Command(trust, "/trust yes|no|forget", "whether what this folder brings along counts"),
    "usage": Command(_usage, "/usage", "tokens and cost"),
    "help": Command(_help, "/help", "this list"),
    "quit": Command(_quit, "/quit", "leave"),
}
