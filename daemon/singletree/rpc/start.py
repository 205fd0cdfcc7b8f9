"""`singletree serve`: its options, and what is loaded behind the first answer.

Never imports anything heavy by itself. Read next: early.py, server.py.
"""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from singletree.host.places import agent_dir
from singletree.rpc.declared import declare

if TYPE_CHECKING:
    from singletree.host.options import Options
    from singletree.rpc.serve import OpenDoor


def serve_main(arguments: Sequence[str]) -> NoReturn:
    """Serve until the client leaves; the process ends with it."""
    given = parser().parse_args(arguments)

    from singletree.rpc.early import serve_stdio

    def load() -> OpenDoor:
        # pydantic would look through all installed packages for plugins: slow, and none of ours
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        gc.disable()  # what is loaded stays: nothing of it is looked at again by the collector
        from singletree.rpc.server import door_for
        from singletree.tools.hide import hide_environment

        options = options_of(given)
        hide_environment(options.environment)
        gc.freeze()
        gc.enable()
        return door_for(options)

    serve_stdio(load, declare)


def parser() -> argparse.ArgumentParser:
    """The options of `serve`."""
    made = argparse.ArgumentParser(prog="singletree serve", add_help=True)
    made.add_argument("--stdio", action="store_true", help="over stdin and stdout (the default)")
    made.add_argument("--model", metavar="REF")
    made.add_argument("--tools", metavar="LIST")
    made.add_argument("--system-prompt", metavar="TEXT|FILE")
    made.add_argument("--append-system-prompt", metavar="TEXT|FILE", action="append", default=[])
    made.add_argument("--mode", choices=("ask", "acceptEdits", "readOnly", "allowAll"))
    made.add_argument("--trust", action=argparse.BooleanOptionalAction, default=None)
    return made


def options_of(given: argparse.Namespace) -> Options:
    """The command line and the environment as the host's options."""
    from singletree.host.options import Options

    return Options(
        agent_dir=agent_dir(os.environ),
        environment=dict(os.environ),
        model=given.model,
        tools=None if given.tools is None else tuple(filter(None, given.tools.split(","))),
        system_prompt=given.system_prompt,
        append_system_prompt=tuple(given.append_system_prompt),
        trust=given.trust,
        mode=given.mode,
    )
