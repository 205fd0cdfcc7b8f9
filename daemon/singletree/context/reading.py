"""How the context's files are read: through a function, so that unsaved buffers count.

Whatever is wrong with a file becomes a Problem, never an exception. Never knows what the text is
for. Read next: files.py, skills.py, templates.py.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from singletree.pathtext import read_plain

Read = Callable[[Path], bytes]
"""The bytes of a file as the user sees it; OSError where there is none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know: a stable code, one line, the file it is about.

    `winner`: of two things with one name, the one that is used.
    """

    code: str
    message: str
    path: str
    name: str = ""
    winner: str = ""


def from_disk(path: Path) -> bytes:
    """The file as it lies on the disk."""
    return read_plain(path)


def absolute(path: Path) -> Path:
    """The path from the root, without dots; links are not followed."""
    return Path(os.path.normpath(path.absolute()))


def fetch(path: Path, read: Read) -> bytes | Problem | None:
    """The bytes of a regular file, or of a buffer that has no file yet; None: there is nothing."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if read is from_disk:
            return None
        mode = stat.S_IFREG
    except OSError as error:
        return unreadable(path, error)
    if not stat.S_ISREG(mode):
        return Problem("not_a_file", f"{path} is no regular file and is left out.", str(path))
    try:
        return read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return unreadable(path, error)


def unreadable(path: Path, error: OSError) -> Problem:
    """A file that can't be read."""
    why = error.strerror or type(error).__name__
    return Problem("unreadable", f"{path} can't be read ({why}) and is left out.", str(path))


def decoded(data: bytes) -> tuple[str, bool]:
    """The text without a byte-order mark, and whether it was UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), False
    try:
        return data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False
