"""Values of models.json that stand for something else: a variable, a command, or themselves.

    sk-123          itself                      $NAME, ${NAME}    an environment variable
    !pass show key  what the command prints     $$ and $!         a plain $ and a plain !

Blocking: a command runs here. Call from a worker thread. Never knows what a value is for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

from singletree.errors import SettingsError

COMMAND_SECONDS = 10.0
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
    except OSError as error:
        raise _Failed(error.strerror) from None
    with process:
        try:
            printed, _ = process.communicate(timeout=COMMAND_SECONDS)
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
