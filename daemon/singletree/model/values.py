"""Values of models.json that stand for something else: a variable, a command, or themselves.

    sk-123          itself                      $NAME, ${NAME}    an environment variable
    !pass show key  what the command prints     $$ and $!         a plain $ and a plain !

Blocking: a command runs here. Call from a worker thread. Never knows what a value is for.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from singletree.errors import SettingsError

COMMAND_SECONDS = 10.0
MOST = 65_536
"""Bytes; no key is longer."""
ENDLESS = f"it printed more than {MOST // 1024} KiB"
SLOW = f"it took more than {COMMAND_SECONDS:g} seconds"
FAILED = "The command that gives {of} failed: {why}. Correct it, or give the value itself."
_PART = re.compile(r"\$\$|\$!|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)")


def resolve(value: str, env: Mapping[str, str], *, of: str) -> str | None:
    """What a value means; None where a variable is not set.

    SettingsError where its command failed: `of` names there what it is the value of.
    """
    if value.startswith("!"):
        try:
            return _printed(value[1:], env)
        except _Failed as failed:
            raise SettingsError(FAILED.format(of=of, why=failed)) from None
    if missing(value, env) is not None:
        return None
    return _PART.sub(lambda match: _meaning(match, env), value)


def missing(value: str, env: Mapping[str, str]) -> str | None:
    """The first variable of a value that is not set."""
    if value.startswith("!"):
        return None
    names = (match[1] or match[2] for match in _PART.finditer(value))
    return next((name for name in names if name and not env.get(name)), None)


def _meaning(match: re.Match[str], env: Mapping[str, str]) -> str:
    name = match[1] or match[2]
    return env[name] if name else match[0][1]


class _Failed(Exception):
    """A command that gave no value, and why."""


def _printed(command: str, env: Mapping[str, str]) -> str:
    """What a command prints: one line, within some seconds."""
    import signal
    import subprocess  # only here, for a start without it

    try:
        process = subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _Failed(str(error)) from None
    deadline = time.monotonic() + COMMAND_SECONDS
    with process:
        try:
            printed = _read(process.stdout, deadline)
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise _Failed(SLOW) from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        raise _Failed(f"it ended with {process.returncode}")
    key = printed.decode("utf-8", "replace").strip()
    if "\n" in key:
        raise _Failed("it printed more than one line")
    return key


def _read(stream: IO[bytes] | None, deadline: float) -> bytes:
    """All that a command prints, unless that takes too long or has no end."""
    import selectors

    assert stream is not None
    printed = b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(stream, selectors.EVENT_READ)
        while waiting.select(max(0.0, deadline - time.monotonic())):
            piece = os.read(stream.fileno(), MOST)
            if not piece:
                return printed
            printed += piece
            if len(printed) > MOST:
                raise _Failed(ENDLESS)
    raise _Failed(SLOW)
