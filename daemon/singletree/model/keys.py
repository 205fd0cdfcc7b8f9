"""auth.json: the keys a person gave us, in pi's shape, readable by nobody else.

    {"anthropic": {"type": "api_key", "key": "sk-..."}, "other": {"type": "oauth", ...}}

Entries of other kinds are kept as they are. Blocking; never prints a key. Read next: catalog.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from singletree.errors import or_session_error
from singletree.held import held
from singletree.jsontext import read_object
from singletree.private import put_whole

NOT_KEPT = "The key could not be kept in {path}: {why}."


def read_keys(path: Path) -> dict[str, str]:
    """Provider to key, where the file has one; a key may have the forms of values.py."""
    found: dict[str, str] = {}
    for provider, entry in read_object(path, path.name).items():
        if isinstance(entry, dict) and entry.get("type", "api_key") == "api_key":
            key = entry.get("key")
            if isinstance(key, str) and key:
                found[provider] = key
    return found


def write_key(path: Path, provider: str, key: str | None) -> None:
    """Set a provider's key, or take it away; the file is replaced at once, mode 0600.

    A link stays one: what it points to is replaced. Nobody else changes it meanwhile.
    """
    if key is None and provider not in read_object(path, path.name):
        return
    with or_session_error(NOT_KEPT, path):
        real = path.resolve()
        with held(real):
            entries = read_object(real, path.name)
            entries.pop(provider, None)
            if key is not None:
                entries[provider] = {"type": "api_key", "key": key}
            text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
            with put_whole(real) as file:
                file.write(text.encode(errors="replace"))
                file.flush()
                os.fsync(file.fileno())
