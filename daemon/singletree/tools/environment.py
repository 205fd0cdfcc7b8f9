"""The environment commands get: the daemon's own, without its secrets and without its editor.

Dropped are the keys of model providers (by form and by name, and any other variable that holds the
same value), everything that is the daemon's or its host editor's own, and passwords in proxy
addresses. Set is what makes programs fail at once where they would wait for a keyboard that nobody
has. Never reads the environment by itself: it is handed in. Read next: shell.py (who uses it).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

DROPPED = (
    # keys of model providers
    "*_API_KEY",
    "*_API_KEYS",
    "*_API_KEY_*",
    "*_API_TOKEN",
    "ANTHROPIC_*",
    "OPENAI_*",
    "AZURE_OPENAI_*",
    "COPILOT_*",
    "AWS_BEARER_TOKEN_BEDROCK",
    "HF_TOKEN",
    # the daemon's own
    "PI_*",
    "SINGLETREE_*",
    # the editor that hosts it: a way back into it, or a dialog in front of its user
    "NVIM",
    "NVIM_*",
    "VIM",
    "VIMRUNTIME",
    "MYVIMRC",
    "VSCODE_*",
    "ELECTRON_*",
    "INSIDE_EMACS",
    "EMACS_SERVER_*",
    # of the folder and the shell the daemon was started in
    "OLDPWD",
    "SHLVL",
    "_",
)
"""Names that are never passed on, unless the user keeps them by name."""

SET: Mapping[str, str] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "/bin/false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""No terminal, no pager, no editor, no prompt. `true` as an editor takes a message as it stands."""

_SECRET_LENGTH = 8
_PROXY = re.compile(r"(?:^|_)proxy$", re.IGNORECASE)


def command_environment(
    given: Mapping[str, str],
    cwd: Path,
    *,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What a command in `cwd` sees of `given`.

    `keep` and `drop` are names or globs (of the user's settings, or of the model list, which may
    take a key from any variable); `drop` wins. `extra` is set last.
    """
    secret = {name for name in given if is_dropped(name, keep, drop)}
    values = {given[name] for name in secret if len(given[name]) >= _SECRET_LENGTH}
    passed = {
        name: _without_password(value) if _PROXY.search(name) else value
        for name, value in given.items()
        if name not in secret and value not in values
    }
    return {**passed, **SET, "PWD": str(cwd), **(extra or {})}


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is, or holds, something no command should see."""
    return is_dropped(name) or (_PROXY.search(name) is not None and "@" in value)


def is_dropped(name: str, keep: Collection[str] = (), drop: Collection[str] = ()) -> bool:
    """Whether a variable is not passed on."""
    if any(fnmatchcase(name, pattern) for pattern in drop):
        return True
    if any(fnmatchcase(name, pattern) for pattern in keep):
        return False
    return any(fnmatchcase(name, pattern) for pattern in DROPPED)


def _without_password(address: str) -> str:
    """A proxy's address without who may use it."""
    scheme, sign, rest = address.partition("://") if "://" in address else ("", "", address)
    return f"{scheme}{sign}{rest.rpartition('@')[2]}"
