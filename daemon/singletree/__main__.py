"""The command line: `singletree` and a command, which HELP lists.

Imports what a command needs when it is named, so that `serve` and `attach` answer at once. Read
next: rpc/doors/early.py (how serving starts), rpc/doors/attach.py, chat/ (the terminal client).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

HELP = """\
Singletree: an agent daemon that editors host like a language server.

  singletree serve [--stdio]      serve one editor over stdin and stdout; ends with it
  singletree attach               the same by the daemon that all your editors share; it is started
                                  when none runs, and ends some minutes after the last editor
  singletree stop                 end that daemon now
  singletree chat                 talk to it in this terminal
  singletree sessions             list the sessions of this folder
  singletree sessions export ID   one of them as html, md or jsonl
  singletree sessions xray ID     what the model would see of it, part by part
  singletree trust [yes|no|forget] whether what this folder brings along counts; yes: it does
  singletree describe [--out DIR] print the protocol: schema, markdown, typescript, lua
  singletree doctor               what can be used here, and what is missing
  singletree --version

Options of serve, attach and chat (attach: for a daemon that it starts):
  --model REF                     provider/id, offline/demo or scripted:FILE
  --tools LIST                    the active tools, separated by commas
  --system-prompt TEXT|FILE       instead of the first part of the system prompt
  --append-system-prompt TEXT|FILE
  --mode MODE                     ask, acceptEdits, readOnly or allowAll
  --trust, --no-trust             use, or leave out, what the workspace brings along

Options of serve, attach and stop:
  --listen unix://PATH            the socket of the shared daemon, instead of the usual one
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named on the command line; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name, rest = (given[0], given[1:]) if given else ("--help", [])
    if name in ("--help", "-h", "help"):
        print(HELP, end="")
        return 0
    if name in ("--version", "-V"):
        from singletree import __version__

        print(f"singletree {__version__}")
        return 0
    command = COMMANDS.get(name)
    if command is None:
        print(f"singletree: there is no command {name!r}; see singletree --help", file=sys.stderr)
        return 2
    try:
        return command(rest)
    except BrokenPipeError:  # whoever read us has left: what is still to be written goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _serve(rest: list[str]) -> int:
    from singletree.rpc.doors.start import serve_main

    serve_main(rest)


def _attach(rest: list[str]) -> int:
    from singletree.rpc.doors.attach import attach_main

    return attach_main(rest)


def _stop(rest: list[str]) -> int:
    from singletree.host.shared import stop

    return _print(stop(rest, os.environ))


def _chat(rest: list[str]) -> int:
    from singletree.chat import main as chat_main

    return chat_main(rest)


def _describe(rest: list[str]) -> int:
    from singletree.rpc.describe import describe_main

    return describe_main(rest)


def _sessions(rest: list[str]) -> int:
    from singletree.host.report import sessions

    return _print(sessions(rest, os.environ))


def _trust(rest: list[str]) -> int:
    from singletree.host.trusting import trust

    return _print(trust(rest, os.environ))


def _doctor(rest: list[str]) -> int:
    from singletree.host.doctor import doctor

    return _print(doctor(rest, os.environ))


def _print(lines: Iterator[str]) -> int:
    """Print lines; an error of ours is one line and status 1."""
    from singletree.errors import SingletreeError

    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except SingletreeError as error:
        print(f"singletree: {error.message}", file=sys.stderr)
        return 1
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "serve": _serve,
    "attach": _attach,
    "stop": _stop,
    "chat": _chat,
    "describe": _describe,
    "sessions": _sessions,
    "trust": _trust,
    "doctor": _doctor,
}

if __name__ == "__main__":
    sys.exit(main())
