"""Values of models.json that stand for something else: a variable, a command, or themselves.

    sk-123          itself                      $NAME, ${NAME}    an environment variable
    !pass show key  what the command prints     $$ and $!         a plain $ and a plain !

Blocking: a command runs here. Call from a worker thread. Never knows what a value is for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from singletree.errors import SettingsError

COMMAND_SECONDS = 10.0
_PART = re.compile(r"\$\$|\$!|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)")


def resolve(value: str, env: Mapping[str, str]) -> str | None:
    """What a value means; None where a variable is not set. SettingsError: the command failed."""
    if value.startswith("!"):
        return _printed(value[1:], env)
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


def _printed(command: str, env: Mapping[str, str]) -> str:
    import subprocess  # only here, for a start without it

    try:
        done = subprocess.run(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            env=dict(env),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SettingsError(
            f"the key command in models.json failed: {type(error).__name__}"
        ) from None
    if done.returncode != 0:
        raise SettingsError(f"the key command in models.json ended with {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip()
