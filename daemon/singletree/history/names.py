"""Names of sessions: ids, file names, and the folder of a workspace's sessions.

They are pi's, so that either program finds the other's sessions. Never touches a disk. Read next:
store.py (which makes and finds the files).
"""

from __future__ import annotations

import os
import re
import time
import uuid
from hashlib import blake2s
from pathlib import Path

from singletree.messages import well_formed

_UPGRADED = ".v3.jsonl"
_LONGEST = 251
"""Bytes between the dashes of a folder's name."""
_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?").fullmatch


def valid_session_id(session_id: str) -> bool:
    """Whether the text may be a session's id: letters, digits, dots, dashes, underscores."""
    return _SESSION_ID(session_id) is not None


def new_session_id() -> str:
    """A uuid of version 7: its order is the order of time."""
    bits = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10))
    bits = bits & ~(0xF000 << 64) | 0x7000 << 64
    bits = bits & ~(0xC000 << 48) | 0x8000 << 48
    return str(uuid.UUID(int=bits))


def file_name(timestamp: str, session_id: str) -> str:
    """`2026-01-31T12-00-00-000Z_<id>.jsonl`."""
    return f"{re.sub('[:.]', '-', timestamp)}_{session_id}.jsonl"


def folder_name(cwd: str) -> str:
    """`--home-me-project--` for a workspace; different workspaces may share one.

    Where that is too long for a name, which pi would fail at, its end is a hash.
    """
    path = os.path.normpath(cwd).lstrip("/\\") if cwd else ""
    flat = re.sub(r"[/\\:]", "-", path)
    raw = flat.encode("utf-8", "surrogatepass")
    if len(raw) > _LONGEST:
        flat = f"{raw[:200].decode('utf-8', 'ignore')}~{blake2s(raw, digest_size=8).hexdigest()}"
    return f"--{flat}--"


def same_folder(a: str, b: str) -> bool:
    """Whether two texts name the same workspace, be it through a link.

    A header has it as text: of a name that is no UTF-8 it knows what could be written.
    """
    if not a or not b:
        return False
    if os.path.normpath(well_formed(a)) == os.path.normpath(well_formed(b)):
        return True
    return os.path.realpath(a) == os.path.realpath(b)


def upgraded_path(path: Path) -> Path:
    """Where the version 3 copy of an older file stands."""
    return path.with_name(f"{path.stem}{_UPGRADED}")


def original_path(path: Path) -> Path | None:
    """The older file that this is the copy of, by its name."""
    if not path.name.endswith(_UPGRADED):
        return None
    return path.with_name(path.name.removesuffix(_UPGRADED) + ".jsonl")
