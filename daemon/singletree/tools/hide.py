"""Blanks the daemon's keys where other processes of the same user could read them.

`/proc/<pid>/environ` shows the memory a process was started with, to its user and to root; a key
that came in the environment would stand there for every command. Whoever needs the keys takes a
copy first. Linux only; elsewhere nothing is done. Read next: environment.py (which names).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from singletree.tools.environment import is_secret

_START_FIELD = 48
"""Of env_start in /proc/self/stat, counted from 0 behind the program's name; env_end follows."""


def hide_environment(environment: Mapping[str, str]) -> int:
    """Blank the values of secret variables in the memory the process was started with."""
    if sys.platform != "linux":
        return 0
    secret = {name: value for name, value in environment.items() if is_secret(name, value)}
    names = {os.fsencode(name) for name in secret}
    values = {os.fsencode(value) for value in secret.values()}
    start, end = _bounds()
    hidden = 0
    at = start
    while at < end:
        entry = ctypes.string_at(at)
        name, sign, value = entry.partition(b"=")
        if sign and value and (name in names or value in values):
            ctypes.memset(at + len(name) + 1, 0, len(value))
            hidden += 1
        at += len(entry) + 1
    return hidden


def _bounds() -> tuple[int, int]:
    try:
        text = Path("/proc/self/stat").read_bytes()
        fields = text[text.rindex(b")") + 2 :].split()
        return int(fields[_START_FIELD - 1]), int(fields[_START_FIELD])
    except (OSError, ValueError, IndexError):
        return 0, 0
