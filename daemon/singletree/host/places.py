"""Where things are on this machine. Standard library only: it stands before the first answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from singletree.errors import SingletreeError
from singletree.pathtext import at_home, home

GONE = "The current folder does not exist any more; go to another one."
UNIX = "unix://"
NOT_UNIX = "{address} is no place to listen at; write it as unix:///the/whole/path."


def agent_dir(environment: Mapping[str, str]) -> Path:
    """Settings, keys and sessions: the folder PI_CODING_AGENT_DIR names, or ~/.pi/agent."""
    named = environment.get("PI_CODING_AGENT_DIR")
    return at_home(named).absolute() if named else home() / ".pi" / "agent"


def here() -> Path:
    """The current folder. Raises workspace_not_found where it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        raise SingletreeError(GONE, code="workspace_not_found") from None


def shared_socket(environment: Mapping[str, str]) -> Path:
    """The socket of the person's shared daemon, in a folder of its own.

    Under XDG_RUNTIME_DIR where its path under the agent folder is too long for a socket.
    """
    from singletree.host.doorbell import LONGEST

    folder = agent_dir(environment)
    path = folder / "singletree" / "run" / "daemon.sock"
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if len(os.fsencode(path)) < LONGEST - VERSION_BYTES or not runtime.startswith("/"):
        return path
    from hashlib import blake2s

    name = blake2s(os.fsencode(folder), digest_size=6).hexdigest()
    return Path(runtime) / "singletree" / f"{name}.sock"


VERSION_BYTES = 16
"""Room for a version in the name."""


def socket_at(address: str) -> Path:
    """The path in `unix://PATH`."""
    path = address.removeprefix(UNIX)
    if path == address or not path:
        raise SingletreeError(NOT_UNIX.format(address=address))
    return at_home(path).absolute()
