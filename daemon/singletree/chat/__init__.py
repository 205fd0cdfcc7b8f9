"""The terminal client, `singletree chat`: the standard library, and nothing but the protocol.

It starts a daemon of its own and speaks to it as any editor would: the proof that the protocol is
enough. It imports nothing else of this package. Read next: talk.py, commands.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from singletree.chat import commands
from singletree.chat.keyboard import Pipe, Terminal
from singletree.chat.link import MISUSED, Gone, Link, Object, Refused, part, rows, text
from singletree.chat.screen import Screen
from singletree.chat.talk import Quit, Talk

OFFLINE = "offline/demo"
"""Answers a pipe unless a model is named: it needs no key and no network."""

FAILED, INTERRUPTED = 1, 130
GONE = "The daemon is gone."


def main(argv: Sequence[str] | None = None, daemon: Sequence[str] | None = None) -> int:
    """Talk until the input ends; 0 if no turn failed. `daemon`: another command to start."""
    options, rest = _options().parse_known_args(argv)
    interactive = sys.stdin.isatty()
    lively = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    folder = _folder(options.workspace)
    if folder is None:
        sys.stderr.write(f"singletree chat: no such folder: {options.workspace}\n")
        return MISUSED
    screen = Screen(sys.stdout, lively, sys.stderr)
    link = Link([*(daemon or _daemon()), *_passed_on(options.model, rest, interactive)])
    keyboard = Terminal(_history(), link.poke) if interactive else Pipe()
    talk = Talk(link, screen, keyboard, allow=options.allow)
    talk.command = lambda line: commands.run(talk, line)
    try:
        _begin(talk, options.start, folder, interactive)
        _talk(talk, keyboard)
    except Quit:
        pass
    except Refused as no:
        screen.fault(str(no), no.code, no.hint)
        return FAILED
    except Gone as end:
        screen.fault("These options are not known." if end.misused else GONE, hint=str(end))
        return MISUSED if end.misused else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _nobody_reads()
        return FAILED
    finally:
        keyboard.close()
        link.close()
    screen.rest()
    return FAILED if talk.session.failed and not interactive else 0


def _folder(named: str) -> Path | None:
    """The folder to work in; None if there is none (the current one may have been deleted)."""
    try:
        folder = Path(named).resolve()
        return folder if folder.is_dir() else None
    except (OSError, ValueError):
        return None


def _nobody_reads() -> None:
    """Whoever read us has left: what is still to be written goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="singletree chat",
        description="Talk with the agent in a terminal. Each line of a pipe is a prompt.",
        allow_abbrev=False,
        epilog="Every option of `serve` can be given, too. /help lists the commands.",
    )
    parser.add_argument("--model", metavar="REF", help="provider/id, offline/demo or scripted:FILE")
    parser.add_argument("--workspace", metavar="DIR", default=".", help="the folder to work in")
    start = parser.add_mutually_exclusive_group()
    for value, what in (
        ("continue", "go on with the newest session, as a chat in a terminal does"),
        ("new", "begin a new session, as a pipe does"),
    ):
        start.add_argument(f"--{value}", dest="start", action="store_const", const=value, help=what)
    parser.add_argument(
        "--allow", action="store_true", help="without a terminal, answer questions with yes"
    )
    return parser


def _daemon() -> list[str]:
    return [sys.executable, "-m", "singletree", "serve", "--stdio"]


def _passed_on(model: str | None, rest: Sequence[str], interactive: bool) -> list[str]:
    """What the daemon is started with: the model, and the options that are not ours."""
    model = model or (None if interactive else OFFLINE)
    return [*(["--model", model] if model else []), *rest]


def _history() -> Path:
    home = os.environ.get("PI_CODING_AGENT_DIR") or Path("/", os.path.expanduser("~/.pi/agent"))  # noqa: PTH111
    return Path(home) / "singletree" / "chat-history"


def _begin(talk: Talk, start: str | None, folder: Path, interactive: bool) -> None:
    hello = talk.start(folder.as_uri(), folder.name)
    start = start or ("continue" if interactive else "new")
    told = talk.attach("agent/session/open", {"workspace": folder.as_uri(), "start": start})
    if interactive:
        _greet(talk, hello, part(told, "state"), folder)
    _warn(talk, part(told, "state"))
    if interactive:
        talk.screen.say("/help lists the commands.", "dim")
        commands.show_past(talk, told)


def _greet(talk: Talk, hello: Object, state: Object, folder: Path) -> None:
    version = text(hello, "serverInfo", "version")
    model = text(state, "model") or "the first message finds a model"
    talk.screen.say(f"singletree {version} · {model} · {folder}", "bold")


def _warn(talk: Talk, state: Object) -> None:
    """What does not count here, and what is wrong; a pipe has to know it, too."""
    skipped = ", ".join(text(row, "path") for row in rows(state, "skipped"))
    if skipped:
        talk.screen.warn(f"not trusted, so not used: {skipped} (/trust yes)")
    for notice in rows(state, "warnings"):
        talk.screen.warn(text(notice, "message"))


def _talk(talk: Talk, keyboard: Pipe | Terminal) -> None:
    """Line by line, until the input ends."""
    interrupted = False
    while True:
        talk.until_settled()
        talk.screen.rest()
        suggestion, talk.suggestion = talk.suggestion, ""
        try:
            line = keyboard.ask("› ", suggestion)
        except KeyboardInterrupt:
            if interrupted:
                return
            interrupted = True
            talk.screen.say("(Ctrl-C again leaves)", "dim")
            continue
        interrupted = False
        if line is None:
            return
        _line(talk, line)


def _line(talk: Talk, line: str) -> None:
    if line.startswith("/"):
        talk.command(line)
    elif line.strip():
        try:
            talk.prompt(line)
        except Refused as no:
            talk.screen.fault(str(no), no.code, no.hint)
            talk.session.failed = True
