"""`singletree serve`: its options, and what is loaded behind the first answer.

Never imports anything heavy by itself. Read next: early.py (one client), listen.py (many),
../server.py.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from singletree.errors import SingletreeError
from singletree.host.places import UNIX, agent_dir, socket_at
from singletree.pathtext import is_file
from singletree.rpc.modes import MODES

if TYPE_CHECKING:
    from singletree.host.options import Options
    from singletree.rpc.doors.serve import OpenDoor

SCRIPTED = "scripted:"


def serve_main(arguments: Sequence[str]) -> NoReturn:
    """Serve until the client leaves, or until nobody has come for a while; the process ends."""
    given = parser("singletree serve").parse_args(arguments)
    if given.listen is not None:
        _listen_main(given)

    from singletree.rpc.declared import declare
    from singletree.rpc.doors.early import serve_stdio

    serve_stdio(partial(_load, given), declare)


def _listen_main(given: argparse.Namespace) -> NoReturn:
    """Take the place first: whoever started this process waits for that alone."""
    from singletree import __version__
    from singletree.host.claim import Claim
    from singletree.rpc.hello import PROTOCOL_VERSIONS

    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # heard when all is loaded, see listen.py
    try:
        claim = Claim.take(socket_at(given.listen))
    except SingletreeError as error:
        sys.exit(f"singletree serve: {error.message}")
    claim.say(__version__, PROTOCOL_VERSIONS, 0)

    from singletree.rpc.pipes.stdio import take_stdio, write_all

    reading, writing = take_stdio()
    with contextlib.suppress(OSError):  # whoever started us has gone
        write_all(writing, f"Listening at {UNIX}{claim.path}\n".encode())
    os.close(reading)
    os.close(writing)

    import asyncio

    from singletree.rpc.doors.detach import log_at
    from singletree.rpc.doors.listen import listen
    from singletree.rpc.doors.logs import log_to_stderr

    log = log_to_stderr(log_at(claim.path))
    door = _load(given)
    os.chdir("/")  # no folder is kept from being removed, and none is meant by chance
    serving = listen(door, claim, partial(_idle_seconds, given))
    code = asyncio.new_event_loop().run_until_complete(serving)
    log.drain()
    os._exit(code)  # nothing that still hangs, a thread or a task, can keep the process


def _load(given: argparse.Namespace) -> OpenDoor:
    """Import what is served; how its door is opened."""
    environment = dict(os.environ)
    # pydantic would look through all installed packages for plugins: slow, and none of ours
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    gc.disable()  # what is loaded stays: nothing of it is looked at again by the collector
    from singletree.rpc.server import door_for, shared_door_for
    from singletree.tools.hide import hide_environment

    options = options_of(given, environment)
    hide_environment(options.environment)
    gc.freeze()
    gc.enable()
    if given.listen is None:
        return door_for(options)
    return shared_door_for(options, partial(_idle_seconds, given))


def _idle_seconds(given: argparse.Namespace) -> float:
    """How long a daemon stays that nobody needs. Read when the last client has gone."""
    if given.idle is not None:
        return float(given.idle) if given.idle > 0 else 0.0  # NaN too is never
    from singletree.session.settings.layers import load_settings

    return load_settings(agent_dir(os.environ)).daemon.idle_minutes * 60


def parser(program: str) -> argparse.ArgumentParser:
    """The options of `serve` and `attach`."""
    made = argparse.ArgumentParser(prog=program, add_help=True)
    made.add_argument("--stdio", action="store_true", help="over stdin and stdout (the default)")
    made.add_argument("--listen", metavar="unix://PATH", help="many clients over a socket")
    made.add_argument("--idle", metavar="SECONDS", type=float, help="end so long after the last")
    made.add_argument("--model", metavar="REF", help="provider/id, offline/demo or scripted:FILE")
    made.add_argument("--tools", metavar="LIST", help="the active tools, separated by commas")
    made.add_argument(
        "--system-prompt", metavar="TEXT|FILE", help="instead of the first part of the prompt"
    )
    made.add_argument(
        "--append-system-prompt",
        metavar="TEXT|FILE",
        action="append",
        default=[],
        help="added to the system prompt; may be given more than once",
    )
    made.add_argument(
        "--mode",
        choices=tuple(MODES),
        help="what the agent must ask for, instead of what your settings say",
    )
    made.add_argument(
        "--trust",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="use, or leave out, what every workspace brings along",
    )
    return made


def passed_on(given: argparse.Namespace) -> list[str]:
    """The options as arguments again, for a daemon that is started on behalf of `attach`."""
    named = {
        "--idle": [given.idle],
        "--model": [_whole_reference(given.model)],
        "--tools": [given.tools],
        "--system-prompt": [_whole_path(given.system_prompt)],
        "--append-system-prompt": map(_whole_path, given.append_system_prompt),
        "--mode": [given.mode],
    }
    arguments = [
        f"{key}={one}" for key, values in named.items() for one in values if one is not None
    ]
    if given.trust is not None:
        arguments.append("--trust" if given.trust else "--no-trust")
    return arguments


def options_of(given: argparse.Namespace, environment: dict[str, str]) -> Options:
    """The command line and the environment as the host's options."""
    from singletree.host.options import Options

    return Options(
        agent_dir=agent_dir(environment),
        environment=environment,
        model=_whole_reference(given.model),
        tools=None if given.tools is None else tuple(filter(None, given.tools.split(","))),
        system_prompt=_whole_path(given.system_prompt),
        append_system_prompt=tuple(map(str, map(_whole_path, given.append_system_prompt))),
        trust=given.trust,
        mode=given.mode,
    )


def _whole_reference(model: str | None) -> str | None:
    """A model; one that is a file by its whole path, for a shared daemon stands in no folder."""
    if model is None or not model.startswith(SCRIPTED):
        return model
    return SCRIPTED + str(Path(model.removeprefix(SCRIPTED)).absolute())


def _whole_path(prompt: str | None) -> str | None:
    """A prompt; one that is a file by its whole path."""
    try:
        named = prompt is not None and is_file(prompt)
    except (OSError, ValueError):  # a text that is no name of a file at all
        named = False
    return str(Path(prompt).absolute()) if prompt is not None and named else prompt
